import Foundation

extension Solution {
    /// Adds a table and a layout `Jobs` (`Id`, `Key`, `Payload`, `Result`) and a script `Run Job`, which performs many
    /// writes at once. A client creates a record with the job in `Payload` and names the script in the same request.
    /// `Key` is unique, and set by the client.
    ///
    ///     var solution = Solution.sample
    ///     solution.addJobs()
    ///     // POST layouts/Jobs/records
    ///     // {"fieldData": {"Payload": "{\"layout\":\"Contacts\",\"rows\":[…]}"}, "script": "Run Job"}
    ///
    /// A job is an object with `layout`, `rows` and `atomic`. A row has an `op` (`create`, `edit` or `delete`), for the
    /// last two an `id` and optionally the expected modId `mod`, and `fields`, the values by name:
    ///
    ///     {"layout": "Contacts", "rows": [
    ///         {"op": "create", "fields": {"Name": "Ada", "City": "London"}},
    ///         {"op": "edit", "id": "3", "mod": "2", "fields": {"City": "Kiel"}},
    ///         {"op": "delete", "id": "7"}]}
    ///
    /// The result of the script, which is also written to `Result`, has an element for each row:
    /// `[{"i":0,"id":"58","mod":"0"},{"i":1,"id":"3","mod":"3"},{"i":2,"id":"7"}]`. A job is one transaction. If a row
    /// fails, nothing is changed; the result is one element with the number of that row and the code,
    /// `[{"i":1,"err":504}]`, and the script's error is that code. With `"atomic": false` each row is a transaction of
    /// its own, and the result has an element with `err` for each row that failed.
    ///
    /// The job's own codes are 5000 for a payload that is not a job, 5001 for an unknown `op`, and 5306 for a different
    /// `mod`. The job may also be the parameter of the script; then no record is written. The solution must not have a
    /// layout, table or script of these names, nor scripts `Run Rows` and `Run Row`, which belong to the job. All of it
    /// is in the solution file `Jobs.json` among the module's resources, which is also an example of scripts in steps.
    public mutating func addJobs() {
        tables += Self.jobs.tables
        layouts += Self.jobs.layouts
        scripts += Self.jobs.scripts
    }

    private static let jobs: Solution = {
        let file = resources.appendingPathComponent("jobs/Jobs.json")
        do {
            return try load(from: file)
        } catch {
            preconditionFailure("\(file.lastPathComponent) is a resource of this module: \(error)")
        }
    }()
}
