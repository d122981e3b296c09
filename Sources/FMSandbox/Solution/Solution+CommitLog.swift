extension Solution {
    /// Adds a table and a layout in which the file keeps a log of its commits, as it can by a script that is triggered by
    /// `OnWindowTransaction`: for each record that a commit has created, changed or deleted an entry with `Serial`, a number that
    /// rises, `Table`, `Record` and `Operation` (`New`, `Modified` or `Deleted`).
    ///
    /// ```swift
    /// var solution = Solution.sample
    /// solution.addCommitLog()
    /// let sandbox = try await Sandbox.start([solution])
    /// try sandbox.editRecord(1, ["City": "Kiel"], ofTable: "Contacts", inDatabase: "World")
    /// print(sandbox.records(ofTable: "Log", inDatabase: "World")?.count ?? 0, "commit is logged")     // 1 commit is logged
    /// ```
    ///
    /// As with FileMaker, commits of scripts and of people are logged, and direct writes by the Data API are not. The log is not part of
    /// the coded form. The solution must have no table and no layout of that name.
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
