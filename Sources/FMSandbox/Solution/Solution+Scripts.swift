extension Solution {
    /// An entry of the script list: a script or a folder.
    package enum ScriptItem: Codable, Sendable {
        /// A script. One named `-` is a separator.
        case script(Script)
        /// A folder of scripts and folders.
        indirect case folder(String, [ScriptItem])

        /// Decodes an entry. A folder has the keys `folder` and `items`; everything else is a script.
        package init(from decoder: any Decoder) throws {
            if (try? decoder.singleValueContainer().decode(String.self)) == nil,
                let folder = try FolderKeys.name(in: decoder)
            {
                let container = try decoder.strictContainer(keyedBy: FolderKeys.self)
                self = .folder(folder, try container.decode([ScriptItem].self, forKey: .items, default: []))
            } else {
                self = .script(try Script(from: decoder))
            }
        }

        /// Writes the format that ``init(from:)`` reads.
        package func encode(to encoder: any Encoder) throws {
            switch self {
            case .script(let script): try script.encode(to: encoder)
            case .folder(let name, let items):
                var container = encoder.container(keyedBy: FolderKeys.self)
                try container.encode(name, forKey: .folder)
                try container.encode(items, forKey: .items)
            }
        }

        var scripts: [Script] {
            switch self {
            case .script(let script): [script]
            case .folder(_, let items): items.flatMap(\.scripts)
            }
        }

        func contains(name: String) -> Bool { scripts.contains { $0.name == name } }
    }

    /// A script: a name and steps. A script without steps returns nothing and succeeds, unless
    /// ``Solution/addScript(_:_:)`` gave it a Swift closure.
    package struct Script: Codable, Sendable {
        /// The name.
        package var name: String
        /// The steps in order.
        package var steps: [Step]

        /// Creates a script of the given steps.
        package init(name: String, steps: [Step] = []) {
            self.name = name
            self.steps = steps
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, steps }

        /// Reads the documented JSON form; a plain string is a script without steps.
        package init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.init(name: name)
                return
            }
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            self.init(
                name: try container.decode(String.self, forKey: .name),
                steps: try container.decode([Step].self, forKey: .steps, default: [])
            )
        }
    }

    /// A number in a script step: a constant, or a formula.
    ///
    /// Swift code and JSON use plain literals: `.wait(0.5)`, `.wait("Get ( ScriptParameter )")`.
    package enum Quantity: Codable, Sendable, Equatable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByStringLiteral
    {
        /// The number.
        case number(Double)
        /// A formula, evaluated when the step runs.
        case formula(String)

        /// A number.
        package init(floatLiteral value: Double) { self = .number(value) }
        /// A number.
        package init(integerLiteral value: Int) { self = .number(Double(value)) }
        /// A formula.
        package init(stringLiteral value: String) { self = .formula(value) }

        /// Reads a JSON number, or a formula from a string.
        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .formula(text)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }

        /// Writes the format that ``init(from:)`` reads.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .formula(let text): try container.encode(text)
            }
        }
    }
}
