import FMData

/// One thing that Claris does not document, and that this library and its sandbox assume.
struct ProbeQuestion: Sendable {
    /// What the report calls it.
    let name: String
    /// What is asked, in a sentence.
    let text: String
    /// What is assumed.
    let assumed: String
    /// Asks the host. Returns what it did, in words that hold no name, no value and no token; throws ``NotAsked`` where the host has
    /// nothing to ask it of.
    let ask: @Sendable (ProbeSubject) async throws -> String

    /// Why a question was not asked.
    struct NotAsked: Error {
        let reason: String
    }
}

/// What became of a question.
enum ProbeFinding: Equatable {
    case asAssumed(String)
    case different(found: String, assumed: String)
    case notAsked(String)
}

/// What the questions are asked of: a layout that the account sees, and one whose records may be changed.
struct ProbeSubject: Sendable {
    let layout: DataAPI.Layout
    let metadata: DataAPI.Layout.LayoutMetaData
    /// The other layouts of the same table, as far as the host tells.
    let siblings: [DataAPI.Layout]
    /// `nil` when nothing may be written.
    let scratch: DataAPI.Layout?
    /// A database that the host does not have, with the same account.
    let missing: DataAPI.Database
    /// The same layout, with dates that travel as ISO 8601 has them.
    let iso: DataAPI.Layout
    /// A layout that shows no record, if the host has shown one.
    let empty: DataAPI.Layout?

    /// A name that no file has for anything.
    static let nobodysName = "fmdata probe: no such name"

    var database: DataAPI.Database { layout.database }

    /// The layout's own fields of a type that can be searched.
    func fields(_ result: DataAPI.Layout.LayoutMetaData.FieldMetaData.CalcResult, isGlobal: Bool = false) -> [String] {
        metadata.fieldMetaData
            .filter { $0.result == result && $0.global == isGlobal && !$0.name.contains("::") }
            .map(\.name)
    }

    /// A field that some record has a value in.
    func filledField() async throws -> String {
        try await filled(fields(.text) + fields(.number) + fields(.date)).field
    }

    /// The first of a few fields that some record has a value in, its value in the first such record, and how many there are.
    ///
    /// - Parameter layout: the layout that is asked; by default that of the questions.
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

    /// An offset behind the last of so many records, and of no more digits than any host reads.
    static func offset(behind info: DataAPI.DataInfo) -> Int { info.isReported ? info.foundCount + 1 : largestID }

    /// The largest id of 32 bits: a host may read no larger number, and no record has come to it.
    static let largestID = Int(Int32.max)
}

/// What a call came to, by its code and status alone.
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
    /// `error 101, HTTP 500`. An error that is no answer of FileMaker's is told by its kind.
    var told: String {
        let what = fileMakerCode.map { "error \($0.rawValue)" } ?? "\(code)"
        return what + (httpStatus.map { ", HTTP \($0)" } ?? "")
    }
}
