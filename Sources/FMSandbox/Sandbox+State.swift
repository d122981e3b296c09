public import Foundation

extension Sandbox {
    /// A hosted database as it is now: the solution it started as, with the records it holds at this moment.
    ///
    /// nil when no database of that name is hosted.
    public func solution(named name: String) -> Solution? {
        guard let database = engine.model.database(named: name) else { return nil }
        var solution = engine.solutions[database.index]
        let world = engine.world
        for (place, table) in database.tables.enumerated() {
            solution.tables[place].recordsFile = nil
            solution.tables[place].records = world.tables[table].records.map {
                Solution.Record($0, of: engine.model.tables[table])
            }
        }
        return solution
    }

    /// The records of a table as they are now, in their order of creation; nil when there is no such table.
    public func records(ofTable table: String, inDatabase database: String) -> [Solution.Record]? {
        solution(named: database)?.tables.first { $0.name == table }?.records
    }

    /// Opens a record as if somebody else had it in use, or lets it go: while it is open, writing to it answers 301.
    ///
    /// Throws ``FileMakerError`` 802, 106 or 101 when there is no such database, table or record.
    public func setLocked(_ isLocked: Bool, recordId: Int, ofTable table: String, inDatabase database: String) throws {
        guard let hosted = engine.model.database(named: database) else { throw FileMakerError(802) }
        guard let id = hosted.tables.first(where: { engine.model.tables[$0].name == table }) else {
            throw FileMakerError(106)
        }
        try engine.commit { world in
            guard var record = world.tables[id].record(recordId) else { throw FileMakerError(101) }
            record.isLocked = isLocked
            world.tables[id].replace(record)
        }
    }

    /// Writes every hosted database as it is now into a folder, each as `<name>.json`, to be loaded again with
    /// ``Solution/load(from:)``.
    public func save(to folder: URL) throws {
        for database in engine.model.databases {
            guard let solution = solution(named: database.name) else { continue }
            // A database name may hold a slash; a file name may not.
            let name = database.name.replacingOccurrences(of: "/", with: "_")
            try solution.save(to: folder.appendingPathComponent("\(name).json"))
        }
    }
}

extension Solution.Record {
    /// A record of the store in the form of solution files. Empty values are left out.
    init(_ record: Record, of table: TableModel) {
        self.init(recordId: record.id, modId: record.modId, isLocked: record.isLocked, [:])
        for field in table.fields where field.isStored && !field.isGlobal {
            for repetition in 1...field.repetitions {
                let value = record.values[field.slot + repetition - 1]
                guard !value.isEmpty else { continue }
                let name = repetition == 1 ? field.name : "\(field.name)(\(repetition))"
                switch value {
                case .text(let text): values[name] = text
                case .container(let content): values[name] = content.dataURL
                }
            }
        }
    }
}
