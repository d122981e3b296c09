import FMData
import FMModel
import FMSandbox

// What is said of layouts, and of what they show. No text has the value of a field.

extension DoctorFinding {
    static let noLayoutNamed = DoctorFinding.skipped("no layout was named", "--layout NAME looks at a record of it.")

    static func layouts(count: Int) -> DoctorFinding {
        guard count > 0 else {
            return .failed(
                "the account sees no layout",
                "The account's privilege set shows none: FileMaker Pro, File, Manage, Security, Layouts.",
                exit: .refused
            )
        }
        return DoctorFinding.ok("the account sees \(count)").with(["layouts": count])
    }

    static func scripts(count: Int) -> DoctorFinding { .ok("the account sees \(count)").with(["scripts": count]) }

    static func scriptsFailed(_ error: FMRest.APIError) -> DoctorFinding {
        .warning("they cannot be listed: \(error.finding)", "Calls that run scripts may fail as well.")
    }

    // MARK: One layout

    static func layout(
        _ name: String,
        _ metadata: DataAPI.Layout.LayoutMetaData,
        isCompressed: Bool
    ) -> DoctorFinding {
        let (fields, portals) = (metadata.fieldMetaData.count, metadata.portalMetaData.count)
        let parts = [counted(fields, "field"), counted(portals, "portal")]
        let compressed = isCompressed ? ", compressed on the way" : ""
        return .ok("\"\(name)\" shows \(parts.joined(separator: " and "))\(compressed)")
            .with(["fields": fields, "portals": portals])
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// - Parameter visible: The layouts that the account sees.
    static func layoutFailed(_ error: FMRest.APIError, name: String, visible: [String]) -> DoctorFinding {
        guard error.fileMakerCode == .layoutMissing else { return .failed(error) }
        let meant = visible.filter { $0 != name }.nearest(to: name)
        return .failed(
            "there is no layout \"\(name)\", or the account does not see it",
            meant.map { ["Did you mean --layout \"\($0)\"?"] }
                ?? [
                    "Is it spelled right, and does the privilege set of the account show it?"
                ]
        )
    }

    // MARK: One record

    static func record(_ response: DataAPI.RecordResponse<FieldData, DataAPI.EmptyPortal>) -> DoctorFinding {
        guard let record = response.data.first else { return .ok("the layout shows no record") }
        let count = response.dataInfo.isReported ? " of \(response.dataInfo.totalRecordCount)" : ""
        return .ok("one\(count) was read, with \(counted(record.fieldData.count, "field"))")
    }

    static func recordFailed(_ error: FMRest.APIError) -> DoctorFinding {
        guard error.fileMakerCode?.category == .privileges else { return .failed(error) }
        return .failed(
            error.finding,
            "The account's privilege set forbids it: FileMaker Pro, File, Manage, Security, Records.",
            exit: .refused
        )
    }

    static func containerFailed(_ error: FMRest.APIError) -> DoctorFinding {
        .warning(
            "the content of a container cannot be fetched: \(error.finding)",
            "Contents come from /Streaming_SSL on the same host: a gateway has to pass it, with redirects and cookies."
        )
    }

    // MARK: The model

    static func model(_ changes: [SchemaChange]) -> DoctorFinding {
        guard !changes.isEmpty else { return .ok("the snapshot is like the layout") }
        let breaking = changes.filter(\.isBreaking)
        let text =
            "\(counted(changes.count, "difference")) from the snapshot: " + changes.map(\.text).joined(separator: "; ")
        let advice = "`fmdata schema fetch` and `fmdata generate` bring the types up to date."
        if breaking.isEmpty { return .warning(text, advice).with(["differences": changes.count]) }
        return .failed(text, advice, exit: .different).with(["differences": changes.count, "breaking": breaking.count])
    }
}
