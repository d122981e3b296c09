import FMData
import FMSandbox
import Foundation

extension HostPlan {
    static let database = "Sim"
    static let layout = "Rows"
    /// A layout of the same records with their keys.
    static let keyedLayout = "Keyed"
    /// A layout of the same records with the timestamps of their last changes.
    static let stampedLayout = "Stamped"
    /// The layout of the log of commits.
    static let logLayout = "Commits"
    static let user = "sim"
    /// Two accounts that see different records: each owns every other one.
    static let accounts = ["ada", "eve"]
    static let oAuthUser = "sim@example.com"
    /// Texts that must not appear in logs and descriptions: the password, and the beginning of a field's values.
    static let password = "PASSWORD-of-sim"
    static let secret = "FIELDVALUE-of-sim"

    /// One table with a record for each step, three scripts, and whatever else the kind of program needs.
    var solution: Solution {
        var solution = calls
        if work == .accounts { solution.divide() }
        if work == .records || work == .accounts {
            solution.tables[0].fields.append(.init("Key", validation: .init(unique: true)))
            solution.layouts.append(
                .layout(.init(name: HostPlan.keyedLayout, table: "Rows", fields: ["Marker", "Note", "Key"]))
            )
        }
        if work == .records { solution.addJobs() }
        if work == .journals { solution.keepTrails() }
        if work == .live || work == .accounts || work.hasRestores {
            solution.tables[0].fields.append(.init("Changed", .timestamp, autoEnter: .modificationTimestamp))
            solution.layouts.append(
                .layout(.init(name: HostPlan.stampedLayout, table: "Rows", fields: ["Marker", "Note", "Changed"]))
            )
        }
        if work == .live || work.hasRestores { solution.addCommitLog(HostPlan.logLayout) }
        return solution
    }

    /// The account that owns the record of a step, as long as no other record takes its place.
    static func owner(ofStep id: Int) -> String { accounts[id % accounts.count] }

    /// The layout that only this account may see.
    static func layout(of account: String) -> String { "Of \(account)" }

    private var calls: Solution {
        let records = (0..<records).map { id in
            Solution.Record([
                "Marker": "r\(id)", "Note": HostPlan.secret,
                "File": "data:text/plain;name=f\(id).txt;base64,\(HostPlan.content(id).base64EncodedString())",
            ])
        }
        let fields: [Solution.Field] = [
            .init("Marker"), .init("Note"), .init("File", .container), .init("Global", isGlobal: true),
        ]
        return Solution(
            name: HostPlan.database,
            tables: [.init(name: "Rows", fields: fields, records: records)],
            layouts: [.layout(.init(name: HostPlan.layout, table: "Rows", fields: ["Marker", "Note", "File"]))],
            scripts: [
                .script(.init(name: "Echo", steps: [.exit("Get ( ScriptParameter )")])),
                .script(
                    .init(
                        name: "Log",
                        steps: [.newRecord, .set("Marker", to: "Get ( ScriptParameter )"), .exit("\"ok\"")]
                    )
                ),
                .script(.init(name: "Global", steps: [.exit("Rows::Global")])),
            ],
            accounts: [
                .init(name: HostPlan.user, password: HostPlan.password),
                .init(name: HostPlan.oAuthUser, password: "", kind: .oauth),
            ]
        )
    }

    /// The credentials of an account.
    static func credentials(of account: String) -> DataAPI.Credentials { .init(user: account, password: password) }

    /// The content of the container in a step's record.
    static func content(_ id: Int) -> Data {
        Data("content \(id) ".utf8) + Data(repeating: UInt8(id % 256), count: id % 7 == 0 ? 3000 : 30)
    }

    func configuration(clock: HostClock) -> Sandbox.Configuration {
        var configuration = Sandbox.Configuration()
        configuration.clock = clock
        configuration.maximumSessions = maximumSessions
        configuration.keepAlive = .milliseconds(keepAlive)
        configuration.requestsPerConnection = requestsPerConnection
        configuration.latency = latency.map { .milliseconds($0) }
        configuration.compression = compresses
        configuration.sessionLifetime = .seconds(sessionLifetime)
        return configuration
    }
}

extension Solution {
    /// Gives every record a key, which need not be unique, and a trail of all values that were written into it.
    fileprivate mutating func keepTrails() {
        tables[0].fields += [
            .init("Key"),
            .init("Trail", autoEnter: .calculation("Trail & \"|\" & Note", replacesExisting: true)),
        ]
        for id in tables[0].records.indices { tables[0].records[id].values["Key"] = JobPlan.key(ofRecord: id + 1) }
        layouts.append(.layout(.init(name: HostPlan.keyedLayout, table: "Rows", fields: ["Marker", "Note", "Key"])))
    }

    /// Gives every record an owner, the only account that sees it, and every account a layout of its own.
    fileprivate mutating func divide() {
        tables[0].fields += [
            .init("Owner", autoEnter: .creationAccount), .init("Editor", autoEnter: .modificationAccount),
        ]
        for id in tables[0].records.indices { tables[0].records[id].values["Owner"] = HostPlan.owner(ofStep: id) }
        scripts.append(.script(.init(name: "Who", steps: [.exit("Get ( AccountName )")])))
        for account in HostPlan.accounts {
            layouts.append(.layout(.init(name: HostPlan.layout(of: account), table: "Rows", fields: ["Marker"])))
            accounts.append(.init(name: account, password: HostPlan.password, privilegeSet: account))
            privilegeSets.append(
                .init(
                    name: account,
                    hiddenLayouts: HostPlan.accounts.filter { $0 != account }.map(HostPlan.layout(of:)),
                    visibleRecords: ["Rows": "Owner = Get ( AccountName )"]
                )
            )
        }
    }
}
