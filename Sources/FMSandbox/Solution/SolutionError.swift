/// An error in a solution and its place: `tables[2].fields[0].calculation: unknown function Foo`.
public struct SolutionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database, or the file from which the solution was read, as it was given.
    public var solution: String
    /// The place in the solution, as a path of keys and indexes; layouts and scripts, which may be in folders, have
    /// their names in it. In a file that is not JSON or CSV it is the line, and in JSON also the column.
    public var path: String
    /// The error at that place.
    public var reason: String

    /// Creates an error at a place in a solution.
    public init(solution: String, path: String, reason: String) {
        self.solution = solution
        self.path = path
        self.reason = reason
    }

    /// The solution, the place and the reason, in one line.
    public var description: String { "\(solution): \(path.isEmpty ? "" : path + ": ")\(reason)" }
}
