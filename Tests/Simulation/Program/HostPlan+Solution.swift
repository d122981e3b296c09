import FMData
import FMSandbox
import Foundation

extension HostPlan {
    static let database = "Sim"
    static let layout = "Rows"
    /// The same records with their keys.
    static let keyedLayout = "Keyed"
    /// The same records with the stamps of their last changes.
    static let stampedLayout = "Stamped"
    /// The log of commits.
    static let logLayout = "Commits"
    static let user = "sim"
    /// Two that see different records, of which each is the owner of every other one.
    static let accounts = ["ada", "eve"]
    static let oAuthUser = "sim@example.com"
    /// What must be in no log and no description: the password, and the beginning of the values of a field.
    static let password = "PASSWORD-of-sim"
    static let secret = "FIELDVALUE-of-sim"

    /// One table with a record for each step, three scripts, and what the work needs besides.
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

    /// Whose the record of a step is, as long as nobody has made another one of it.
    static func owner(ofStep id: Int) -> String { accounts[id % accounts.count] }

    /// The layout that nobody else may see.
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

    /// How an account logs in.
    static func credentials(of account: String) -> DataAPI.Credentials { .init(user: account, password: password) }

    /// What is in the container of a step's record.
    static func content(_ id: Int) -> Data {
        Data("content \(id) ".utf8) + Data(repeating: UInt8(id % 256), count: id % 7 == 0 ? 3000 : 30)
    }

    func configuration(clock: HostClock) -> Sandbox.Configuration {
        var configuration = Sandbox.Configuration(clock: clock)
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
    /// Gives every record a key, which need not be its own, and a trail of all that was written into it.
    fileprivate mutating func keepTrails() {
        tables[0].fields += [
            .init("Key"),
            .init("Trail", autoEnter: .calculation("Trail & \"|\" & Note", replacesExisting: true)),
        ]
        for id in tables[0].records.indices { tables[0].records[id].values["Key"] = JobPlan.key(ofRecord: id + 1) }
        layouts.append(.layout(.init(name: HostPlan.keyedLayout, table: "Rows", fields: ["Marker", "Note", "Key"])))
    }

    /// Gives every record an owner, who alone sees it, and every account a layout of its own.
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
