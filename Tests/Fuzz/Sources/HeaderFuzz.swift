import FMData
import FMHTTP
import Foundation

@testable import FMDataCore

/// Each line of an input is a header of an answer. The parsed values must follow their rules: the name of a file names
/// no folder, a part of a content lies within it, and times are valid.
enum HeaderFuzz {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    static func test(_ input: UnsafeRawBufferPointer) {
        var headers = HTTPHeaders()
        for line in lines(input) {
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            // The parser of responses accepts no other names.
            guard halves[0].utf8.isToken else { continue }
            let value = halves.count == 2 ? halves[1].drop { $0 == " " } : ""
            headers.add(name: String(halves[0]), value: String(value))
            checkDate(String(value))
        }
        checkHead(headers)
        checkVersion(headers)
        if let pause = headers.retryAfter(now: now) { require(pause >= .zero, "a pause of \(pause)") }
    }

    private static func checkHead(_ headers: HTTPHeaders) {
        let head = DataAPI.ContainerHead(headers)
        if let name = head.fileName {
            require(!["", ".", ".."].contains(name), "no name of a file: \(name)")
            require(!name.utf8.contains { "/\\".utf8.contains($0) }, "a folder: \(name)")
            for scalar in name.unicodeScalars {
                require(!scalar.properties.isBidiControl, "a name that is shown as another: \(name.debugDescription)")
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator:
                    fatalError("more than a line: \(name.debugDescription)")
                default: break
                }
            }
        }
        if let type = head.mimeType {
            require(MIMEType.isValid(type) && type == type.lowercased(), "no media type: \(type)")
        }
        if let count = head.byteCount { require(count >= 0, "\(count) bytes") }
    }

    private static func checkVersion(_ headers: HTTPHeaders) {
        let whole = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        guard let version = ContainerVersion(whole) else { return }
        for position in [0, 1, 100] {
            for (name, value) in version.headers(forRestFrom: position) {
                require(headers.contains { $0.value == value } || name == "Range", "\(name): \(value)")
            }
            let rest = HTTPResponseHead(version: .http1_1, status: .partialContent, headers: headers)
            guard let count = version.byteCount(ofWholeWith: rest, from: position) else { continue }
            require(count > position, "\(position) of \(count) bytes")
        }
    }

    private static func checkDate(_ text: String) {
        guard let date = HTTPDate.parse(text) else { return }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        guard let year = parts.year, let month = parts.month, let day = parts.day, let hour = parts.hour,
            let minute = parts.minute, let second = parts.second
        else { fatalError("no date: \(date)") }
        // The 31st of a shorter month is a day of the next month, but never beyond the year.
        require(1601...10_000 ~= year, "\(text) is in \(year)")
        let again = HTTPDate.parse("\(day) \(months[month - 1]) \(year) \(hour):\(minute):\(second)")
        require(again == date || year > 9999, "\(text) is \(date) and then \(String(describing: again))")
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
