public import Foundation
import NIOConcurrencyHelpers

extension Sandbox {
    /// A hosted database in its current state: the solution it started as, with the current records, global values,
    /// next record ids and serial numbers, but without the values that belong to sessions.
    ///
    /// nil if no database of that name is hosted.
    public func solution(named name: String) -> Solution? {
        guard let database = engine.model.database(named: name) else { return nil }
        var solution = engine.solutions[database.index]
        let world = engine.world
        for (place, table) in database.tables.enumerated() {
            solution.tables[place].take(world.tables[table], engine.model.tables[table])
        }
        return solution
    }

    /// The current records of a table in the order of their creation; nil if there is no such table.
    public func records(ofTable table: String, inDatabase database: String) -> [Solution.Record]? {
        solution(named: database)?.tables.first { $0.name == table }?.records
    }

    /// Opens a record as if another user edited it, or closes it. While it is open, writing to it is error 301.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 101 if there is no such database, table or record.
    public func setLocked(_ isLocked: Bool, recordId: Int, ofTable table: String, inDatabase database: String) throws {
        let place = try engine.model.table(table, ofDatabase: database).place
        try engine.commit { world in
            guard var record = world.tables[place].record(recordId) else { throw FileMakerError(101) }
            record.isLocked = isLocked
            world.tables[place].replace(record)
        }
    }

    /// The open sessions in the order of their logins.
    public var sessions: [SessionInfo] {
        let sessions = engine.openSessions
        return sessions.map { session in
            SessionInfo(
                database: engine.model.databases[session.database].name,
                account: session.account.name,
                lastUsed: session.state.withLockedValue(\.lastUsed),
                isInUse: session.gate.isBusy
            )
        }
    }

    /// An open session, as in ``Sandbox/sessions``. It has no token, because the token would allow using the session.
    public struct SessionInfo: Sendable, Equatable {
        /// The name of the database of the login.
        public var database: String
        /// The account that logged in.
        public var account: String
        /// The time of its last request, on the sandbox's clock.
        public var lastUsed: Date
        /// Whether one of its requests is running.
        public var isInUse: Bool
    }

    /// The faults that are still to come, in the order in which they are tried.
    public var pendingFaults: [FaultRule] { engine.withState { $0.faults.rules } }

    /// Saves the current state of every hosted database as `<name>.json` in a folder, for ``Solution/load(from:)``. The
    /// folder is created if necessary; a slash in a name becomes an underscore.
    public func save(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for database in engine.model.databases {
            guard let solution = solution(named: database.name) else { continue }
            // A database name may contain a slash; a file name may not.
            let name = database.name.replacingOccurrences(of: "/", with: "_")
            try solution.save(to: folder.appendingPathComponent("\(name).json"))
        }
    }
}

extension Solution.Table {
    /// Copies the records, globals and counters of a table in the store.
    fileprivate mutating func take(_ state: TableState, _ model: TableModel) {
        recordsFile = nil
        records = state.records.map { record in
            Solution.Record(
                recordId: record.id,
                modId: record.modId,
                isLocked: record.isLocked,
                model.texts(of: record.values, global: false)
            )
        }
        globals = model.texts(of: state.globals, global: true)
        nextRecordId = state.nextRecordId
        for (field, serial) in state.serials { fields[field].nextSerial = serial.text }
    }
}

extension TableModel {
    /// Stored values by name, in the form of solution files, without empty ones.
    fileprivate func texts(of values: [FieldValue], global: Bool) -> [String: String] {
        var texts: [String: String] = [:]
        for field in fields where field.isStored && field.isGlobal == global {
            for repetition in 1...field.repetitions {
                let value = values[field.slot + repetition - 1]
                guard !value.isEmpty else { continue }
                let name = repetition == 1 ? field.name : "\(field.name)(\(repetition))"
                switch value {
                case .text(let text): texts[name] = text
                case .container(let content): texts[name] = content.dataURL
                }
            }
        }
        return texts
    }
}
