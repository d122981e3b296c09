import FMData

/// A behaviour that Claris does not document, and that this library and its sandbox assume.
struct ProbeQuestion: Sendable {
    /// The question's name in the report.
    let name: String
    /// The question as a sentence.
    let text: String
    /// The assumed answer.
    let assumed: String
    /// Asks the host. Returns its behaviour in words without any name, value or token. Throws ``NotAsked`` if the host
    /// has nothing to ask about.
    let ask: @Sendable (ProbeSubject) async throws -> String

    /// The reason why a question was not asked.
    struct NotAsked: Error {
        let reason: String
    }
}

/// The result of a question.
enum ProbeFinding: Equatable {
    case asAssumed(String)
    case different(found: String, assumed: String)
    case notAsked(String)
}

/// The objects of the questions: a layout that the account sees, and one whose records may be changed.
struct ProbeSubject: Sendable {
    let layout: DataAPI.Layout
    let metadata: DataAPI.Layout.LayoutMetaData
    /// The other layouts of the same table, if the host reports them.
    let siblings: [DataAPI.Layout]
    /// A layout for scratch records; `nil` if nothing may be written.
    let scratch: DataAPI.Layout?
    /// A database that the host does not have, with the same account.
    let missing: DataAPI.Database
    /// The same layout, with dates in ISO 8601.
    let iso: DataAPI.Layout
    /// A layout without records, if one was found.
    let empty: DataAPI.Layout?

    /// A name that exists in no file.
    static let nobodysName = "fmdata probe: no such name"

    var database: DataAPI.Database { layout.database }

    /// The names of the layout's own fields of a type.
    func fields(_ result: DataAPI.Layout.LayoutMetaData.FieldMetaData.CalcResult, isGlobal: Bool = false) -> [String] {
        metadata.fieldMetaData
            .filter { $0.result == result && $0.global == isGlobal && !$0.name.contains("::") }
            .map(\.name)
    }

    /// A field that has a value in some record.
    func filledField() async throws -> String {
        try await filled(fields(.text) + fields(.number) + fields(.date)).field
    }

    /// The first of a few fields that has a value in some record, the value in the first such record, and the counts of
    /// the find.
    ///
    /// - Parameter layout: The layout to ask; by default the one of the questions.
    func filled(
        _ fields: [String],
        in layout: DataAPI.Layout? = nil
    ) async throws -> (field: String, value: String, info: DataAPI.DataInfo) {
        for field in fields.prefix(10) {
            let query = FindQuery(query: [[field: "*"]], limit: 1, portal: [], noMatch: .empty)
            let found: DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal> =
                try await (layout ?? self.layout).findRecords(query: query).firstValue()
            if let record = found.data.first { return (field, record.fieldData[field]?.text ?? "", found.dataInfo) }
        }
        throw ProbeQuestion.NotAsked(
            reason: "no record of the layout has a value in one of its first fields of that kind"
        )
    }

    /// An offset after the last record found, with no more digits than any host can parse.
    static func offset(behind info: DataAPI.DataInfo) -> Int { info.isReported ? info.foundCount + 1 : largestID }

    /// The largest id of 32 bits. A host may not parse larger numbers, and no record reaches it.
    static let largestID = Int(Int32.max)
}

/// The result of a call, by its code and status only.
func told<Value>(
    _ result: Result<Value, FMRest.APIError>,
    _ describe: (Value) -> String = { _ in "answered" }
) -> String {
    switch result {
    case .success(let value): describe(value)
    case .failure(let error): error.told
    }
}

extension FMRest.APIError {
    /// `error 101, HTTP 500`. An error that does not come from FileMaker is described by its code in the library.
    var told: String {
        let what = fileMakerCode.map { "error \($0.rawValue)" } ?? "\(code)"
        return what + (httpStatus.map { ", HTTP \($0)" } ?? "")
    }
}
