/// A column of a table.
struct OutputColumn: Equatable, Sendable {
    var name: String
    /// Whether its values are numbers, which stand at the right.
    var isNumber = false

    init(_ name: String, isNumber: Bool = false) {
        self.name = name
        self.isNumber = isNumber
    }
}

/// A row of what a command prints.
struct OutputRow: Equatable, Sendable {
    /// The texts of the columns.
    var cells: [String]
    /// The row for programs that read JSON.
    var object: OutputValue
    /// Tables below the row, such as the portals of a record, for people.
    var details: [Detail] = []
    /// How deep the row stands in a tree, for people.
    var depth = 0

    struct Detail: Equatable, Sendable {
        var name: String
        var columns: [OutputColumn]
        var rows: [[String]]
    }
}
