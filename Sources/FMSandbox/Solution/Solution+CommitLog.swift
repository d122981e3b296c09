extension Solution {
    /// Adds a table and a layout in which the file logs its commits, as a script triggered by `OnWindowTransaction` can
    /// do. Each record that a commit creates, changes or deletes gets an entry with `Serial` (an increasing number),
    /// `Table`, `Record` and `Operation` (`New`, `Modified` or `Deleted`).
    ///
    /// ```swift
    /// var solution = Solution.sample
    /// solution.addCommitLog()
    /// let sandbox = try await Sandbox.start([solution])
    /// try sandbox.editRecord(1, ["City": "Kiel"], ofTable: "Contacts", inDatabase: "World")
    /// print(
    ///     sandbox.records(ofTable: "Log", inDatabase: "World")?.count ?? 0,
    ///     "commit is logged")                                     // 1 commit is logged
    /// ```
    ///
    /// As in FileMaker, commits of scripts and people are logged, and direct writes by the Data API are not. The log is
    /// not part of the solution file. The solution must not have a table or a layout of that name.
    ///
    /// Source: FileMaker Pro Help, "OnWindowTransaction".
    public mutating func addCommitLog(_ name: String = "Log") {
        let fields: [Field] = [
            Field("Serial", .number, autoEnter: .serial), Field("Table"), Field("Record", .number), Field("Operation"),
        ]
        tables.append(Table(name: name, fields: fields))
        layouts.append(.layout(Layout(name: name, table: name, fields: ["Serial", "Table", "Record", "Operation"])))
        commitLog = name
    }
}
