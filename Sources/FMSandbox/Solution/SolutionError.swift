/// What is wrong with a solution, and where: `tables[2].fields[0].calculation: unknown function Foo`.
public struct SolutionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database, or the file it was read from, as it was given.
    public var solution: String
    /// The place in the solution, as a path of keys and indexes; layouts and scripts stand in folders and go by their names.
    /// In a file that is no JSON or CSV it is the line, and the column in JSON.
    public var path: String
    /// What is wrong there.
    public var reason: String

    /// An error at a place in a solution.
    public init(solution: String, path: String, reason: String) {
        self.solution = solution
        self.path = path
        self.reason = reason
    }

    /// The solution, the place and the reason, in one line.
    public var description: String { "\(solution): \(path.isEmpty ? "" : path + ": ")\(reason)" }
}
