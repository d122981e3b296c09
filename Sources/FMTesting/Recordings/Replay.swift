import FMData
import Foundation
import NIOConcurrencyHelpers
import OpenCombine

/// Answers requests from the files of a recording.
final class Replay: Sendable {
    private struct Entry: Sendable {
        let file: String
        let exchange: RecordedExchange
        var isUsed = false
    }

    private let entries: NIOLockedValueBox<[Entry]>

    init(_ folder: RecordingFolder) throws(RecordingError) {
        var entries: [Entry] = []
        for file in try folder.files() {
            do {
                guard let json = WireValue(reading: try Data(contentsOf: file)) else {
                    throw RecordingError("it is not JSON")
                }
                entries.append(Entry(file: file.lastPathComponent, exchange: try RecordedExchange(json: json)))
            } catch {
                throw RecordingError("\(file.path) is no recorded exchange: \(error)")
            }
        }
        guard !entries.isEmpty else { throw RecordingError("The folder \(folder.url.path) holds no recording.") }
        self.entries = NIOLockedValueBox(entries)
    }

    /// The files that have not been asked for.
    var unused: [String] { entries.withLockedValue { $0.filter { !$0.isUsed }.map(\.file) } }

    func answer(
        to request: DataAPI.OutgoingRequest,
        _ redaction: Redaction
    ) -> AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        PreparedParts(inBackground: true) { done in
            done(self.parts(answering: request, redaction))
            return {}
        }
        .eraseToAnyPublisher()
    }

    private func parts(
        answering request: DataAPI.OutgoingRequest,
        _ redaction: Redaction
    ) -> Result<[DataAPI.ResponsePart], FMRest.APIError> {
        let question = RecordedExchange.Question(request, redaction)
        return entries.withLockedValue { entries in
            let same = entries.indices.filter { entries[$0].exchange.question == question }
            let isRepeatable = request.isSafeToRepeat || request.operation == .logIn
            if let next = same.first(where: { !entries[$0].isUsed }) ?? (isRepeatable ? same.last : nil) {
                entries[next].isUsed = true
                return .success(entries[next].exchange.parts(at: request.origin))
            }
            if request.operation == .logOut { return .success(TestAnswer.Response(response: .object([])).parts) }
            let reason = Self.reason(request, question, same.last.map { entries[$0] }, among: entries)
            return .failure(FMRest.APIError(.invalidRequest, reason: reason))
        }
    }

    /// What a test reads when an exchange was not recorded. It has names and no values.
    private static func reason(
        _ request: DataAPI.OutgoingRequest,
        _ question: RecordedExchange.Question,
        _ used: Entry?,
        among entries: [Entry]
    ) -> String {
        let place = request.layout.map { " on \"\($0)\"" } ?? ""
        let asked = "\(request.operation)\(place)"
        if let used { return "The recording has no further answer to \(asked): \(used.file) was given already." }
        let distances = entries.map { entry in
            let places = question.differences(from: entry.exchange.question)
            let isOther = entry.exchange.operation != request.operation.rawValue
            let isElsewhere = entry.exchange.layout != request.layout
            return (
                distance: (isOther ? 100 : 0) + (isElsewhere ? 10 : 0) + min(places.count, 9),
                text: "\(entry.file), which differs in \(places.prefix(5).joined(separator: ", "))"
            )
        }
        // All that are as near: only the reader knows which one was meant.
        let least = distances.map(\.distance).min()
        let nearest = distances.filter { $0.distance == least }.map(\.text)
        return "The recording has no answer to \(asked). The nearest \(nearest.count == 1 ? "is" : "are") "
            + nearest.prefix(3).joined(separator: ", and ") + "."
    }
}

extension RecordedExchange {
    /// The response, for a server at this origin.
    fileprivate func parts(at origin: String) -> [DataAPI.ResponsePart] {
        let host = origin.range(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
        func inPlace(_ text: String) -> String {
            guard text.contains("{") else { return text }
            return text.replacingOccurrences(of: Redaction.originMark, with: origin)
                .replacingOccurrences(of: Redaction.hostMark, with: host)
        }
        var fields = DataAPI.Headers()
        for header in headers {
            for value in header.value.text.map({ [$0] }) ?? header.value.elements.compactMap(\.text) {
                fields.add(header.name, inPlace(value))
            }
        }
        let bytes: Data
        switch body {
        case .none: bytes = Data()
        case .json(let value): bytes = Data(value.mappingTexts(inPlace).json)
        case .text(let text): bytes = Data(inPlace(text).utf8)
        case .bytes(let content):
            bytes = content
            fields["Content-Length"] = "\(content.count)"
        }
        return [.head(status: status, headers: fields)] + (bytes.isEmpty ? [] : [.body(bytes)])
    }
}
