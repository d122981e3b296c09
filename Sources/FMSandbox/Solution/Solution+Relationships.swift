extension Solution {
    /// A table occurrence: a table under its own name in the relationship graph.
    package struct Occurrence: Codable, Sendable {
        /// The name that qualifies its fields: `name::Field`.
        package var name: String
        /// The name of the table.
        package var table: String
        /// The data source that has the table; nil if it is in this file.
        package var dataSource: String?

        /// Creates a table occurrence.
        package init(name: String, table: String, dataSource: String? = nil) {
            self.name = name
            self.table = table
            self.dataSource = dataSource
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, table, dataSource }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            table = try container.decode(String.self, forKey: .table)
            dataSource = try container.decodeIfPresent(String.self, forKey: .dataSource)
        }
    }

    /// A relationship between two table occurrences.
    package struct Relationship: Codable, Sendable {
        /// How two match fields are compared.
        package enum Comparison: String, Codable, Sendable, CaseIterable {
            /// Equal. A match field with several lines matches if any of them does.
            case equal = "="
            /// Different.
            case notEqual = "≠"
            /// Smaller.
            case less = "<"
            /// Smaller or equal.
            case lessOrEqual = "≤"
            /// Greater.
            case greater = ">"
            /// Greater or equal.
            case greaterOrEqual = "≥"
            /// Every record matches every other.
            case cartesian = "x"
        }

        /// A pair of match fields. All pairs of a relationship must match.
        package struct Match: Codable, Sendable {
            /// The field of the left occurrence.
            package var left: String
            /// The field of the right occurrence.
            package var right: String
            /// How the two fields are compared.
            package var comparison: Comparison

            /// Creates a pair of match fields.
            package init(_ left: String, _ right: String, comparison: Comparison = .equal) {
                self.left = left
                self.right = right
                self.comparison = comparison
            }

            enum CodingKeys: String, CodingKey, CaseIterable { case left, right, comparison }

            /// Reads the documented JSON form.
            package init(from decoder: any Decoder) throws {
                let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
                left = try container.decode(String.self, forKey: .left)
                right = try container.decode(String.self, forKey: .right)
                comparison = try container.decodeChoiceIfPresent(Comparison.self, forKey: .comparison) ?? .equal
            }
        }

        /// The settings for one side of a relationship.
        package struct Rules: Codable, Sendable, Equatable {
            /// Whether records of this side can be created through the relationship.
            package var allowsCreation: Bool
            /// Whether records of this side are deleted with the record of the other side.
            package var deletesWithOther: Bool
            /// The order in which related records of this side appear.
            package var sort: [SortOrder]

            /// Creates the settings for one side.
            package init(allowsCreation: Bool = false, deletesWithOther: Bool = false, sort: [SortOrder] = []) {
                self.allowsCreation = allowsCreation
                self.deletesWithOther = deletesWithOther
                self.sort = sort
            }

            enum CodingKeys: String, CodingKey, CaseIterable { case allowsCreation, deletesWithOther, sort }

            /// Reads the documented JSON form.
            package init(from decoder: any Decoder) throws {
                let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
                allowsCreation = try container.decode(Bool.self, forKey: .allowsCreation, default: false)
                deletesWithOther = try container.decode(Bool.self, forKey: .deletesWithOther, default: false)
                sort = try container.decode([SortOrder].self, forKey: .sort, default: [])
            }
        }

        /// One table occurrence.
        package var left: String
        /// The other table occurrence.
        package var right: String
        /// The match fields.
        package var matches: [Match]
        /// The settings for the left side.
        package var leftRules: Rules
        /// The settings for the right side.
        package var rightRules: Rules

        /// Creates a relationship between two table occurrences.
        package init(
            _ left: String,
            _ right: String,
            matches: [Match],
            leftRules: Rules = Rules(),
            rightRules: Rules = Rules()
        ) {
            self.left = left
            self.right = right
            self.matches = matches
            self.leftRules = leftRules
            self.rightRules = rightRules
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case left, right, matches, leftRules, rightRules }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            left = try container.decode(String.self, forKey: .left)
            right = try container.decode(String.self, forKey: .right)
            matches = try container.decode([Match].self, forKey: .matches)
            leftRules = try container.decode(Rules.self, forKey: .leftRules, default: Rules())
            rightRules = try container.decode(Rules.self, forKey: .rightRules, default: Rules())
        }
    }

    /// One field of a sort order.
    package struct SortOrder: Codable, Sendable, Equatable {
        /// The field, unqualified or as `Occurrence::Field`.
        package var field: String
        /// `ascend`, `descend` or the name of a value list. The default is `ascend`.
        package var order: String

        /// Creates a field of a sort order.
        package init(_ field: String, _ order: String = "ascend") {
            self.field = field
            self.order = order
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case field, order }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            field = try container.decode(String.self, forKey: .field)
            order = try container.decode(String.self, forKey: .order, default: "ascend")
        }
    }

    /// Another hosted file, whose tables this file uses.
    package struct DataSource: Codable, Sendable {
        /// The name by which occurrences refer to it.
        package var name: String
        /// The database on the same host.
        package var database: String

        /// Creates a data source.
        package init(name: String, database: String) {
            self.name = name
            self.database = database
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, database }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            database = try container.decode(String.self, forKey: .database)
        }
    }

    /// A value list.
    package struct ValueList: Codable, Sendable {
        /// The name.
        package var name: String
        /// The fixed values, for a custom list.
        package var values: [String]?
        /// The field whose values make the list, as `Occurrence::Field`.
        package var field: String?
        /// A second field, whose value is shown in place of the first one's, as `Occurrence::Field`.
        package var displayField: String?
        /// The occurrence from which the list shows related values only.
        package var relatedFrom: String?

        /// Creates a list of fixed values.
        package init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }

        /// Creates a list of the values of a field, in ascending order and without repetitions.
        package init(name: String, field: String, displayField: String? = nil, relatedFrom: String? = nil) {
            self.name = name
            self.field = field
            self.displayField = displayField
            self.relatedFrom = relatedFrom
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, values, field, displayField, relatedFrom }

        /// Reads the documented JSON form.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            values = try container.decodeIfPresent([String].self, forKey: .values)
            field = try container.decodeIfPresent(String.self, forKey: .field)
            displayField = try container.decodeIfPresent(String.self, forKey: .displayField)
            relatedFrom = try container.decodeIfPresent(String.self, forKey: .relatedFrom)
        }
    }
}
