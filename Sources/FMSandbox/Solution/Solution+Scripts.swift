extension Solution {
    /// An entry of the script list: a script or a folder.
    public enum ScriptItem: Codable, Sendable {
        /// A script. One named `-` is a separator.
        case script(Script)
        /// A folder of scripts and folders.
        indirect case folder(String, [ScriptItem])

        /// A folder has the keys `folder` and `items`; everything else is a script.
        public init(from decoder: any Decoder) throws {
            if (try? decoder.singleValueContainer().decode(String.self)) == nil,
                let folder = try FolderKeys.name(in: decoder)
            {
                let container = try decoder.strictContainer(keyedBy: FolderKeys.self)
                self = .folder(folder, try container.decode([ScriptItem].self, forKey: .items, default: []))
            } else {
                self = .script(try Script(from: decoder))
            }
        }

        /// Writes what ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
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

    /// A script: a name and steps. One without steps returns nothing and succeeds, unless ``Solution/addScript(_:_:)`` gave
    /// it code.
    public struct Script: Codable, Sendable {
        /// The name.
        public var name: String
        /// What it does, step by step.
        public var steps: [Step]

        /// A script of the given steps.
        public init(name: String, steps: [Step] = []) {
            self.name = name
            self.steps = steps
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, steps }

        /// Reads the documented JSON form; a plain string is a script without steps.
        public init(from decoder: any Decoder) throws {
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

    /// A number in a script step: itself, or a formula that gives it.
    ///
    /// In Swift as in JSON it is written plainly: `.wait(0.5)`, `.wait("Get ( ScriptParameter )")`.
    public enum Quantity: Codable, Sendable, Equatable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByStringLiteral
    {
        /// The number.
        case number(Double)
        /// A formula, worked out when the step runs.
        case formula(String)

        /// A number.
        public init(floatLiteral value: Double) { self = .number(value) }
        /// A number.
        public init(integerLiteral value: Int) { self = .number(Double(value)) }
        /// A formula.
        public init(stringLiteral value: String) { self = .formula(value) }

        /// Reads a JSON number or, as a string, a formula.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .formula(text)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }

        /// Writes what ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .formula(let text): try container.encode(text)
            }
        }
    }

    /// One step of a script declared in data. Values and conditions are formulas.
    public indirect enum Step: Codable, Sendable, Equatable {
        /// Sets a field of the current record, a global field, or a `$variable`: `{"set": "Name", "to": "Upper ( Name )"}`.
        case set(String, to: String)
        /// Ends the script with a result, and with an error code if there is one: `{"exit": "Get ( ScriptParameter )"}`,
        /// `{"exit": "\"half\"", "error": 5}`. Without one the last error stays what it is.
        case exit(String, error: Quantity? = nil)
        /// Ends the script with a result that is a text with formulas in it, and with an error code if there is one:
        /// `{"template": "<<Name>> is one of <<Get ( FoundCount )>>"}`.
        case template(String, error: Quantity? = nil)
        /// Ends the script with an error code: `{"error": 101}`, `{"error": "Get ( ScriptParameter )"}`. What is no number
        /// is error -1.
        case error(Quantity)
        /// Runs steps once per record of the found set; afterwards the last error is 101, as after FileMaker's own loop that
        /// exits after the last record: `{"loop": […]}`.
        case loop([Step])
        /// Runs one of two lists of steps: `{"if": "Total > 5", "then": […], "else": […]}`.
        case branch(String, then: [Step], else: [Step])
        /// Goes to the layout of that name: `{"goToLayout": "Zones"}`.
        case goToLayout(String)
        /// Keeps the records of the found set for which a formula is true: `{"constrain": "Population > 1000"}`.
        case constrain(String)
        /// Finds records, with requests like those of `_find`: `{"find": [{"City": "=<<$city>>"}, {"Status": "lost", "omit":
        /// "true"}]}`. Criteria are texts with formulas in them, and fields are seen from the layout, on it or not. A find of
        /// nothing leaves an empty found set and error 401.
        case find([[String: String]])
        /// Takes the current record out of the found set: `{"omitRecord": true}`.
        case omitRecord
        /// Finds all records: `{"showAll": true}`.
        case showAll
        /// Creates a record and makes it the current one: `{"newRecord": true}`.
        case newRecord
        /// Deletes the current record: `{"deleteRecord": true}`.
        case deleteRecord
        /// Closes the session's window: `{"closeWindow": true}`. Every later request of the session that needs a layout is
        /// error 112; a client must log in anew.
        case closeWindow
        /// Waits, in seconds of the sandbox's clock: `{"wait": 0.5}`, `{"wait": "Get ( ScriptParameter )"}`. What is no
        /// number, or negative, waits not at all, and nothing waits for longer than a day.
        case wait(Quantity)

        enum CodingKeys: String, CodingKey, CaseIterable {
            case set, to, exit, template, error, loop, `if`, then, `else`, goToLayout, constrain, showAll, newRecord
            case find, omitRecord, deleteRecord, closeWindow, wait

            /// The keys that may stand beside one that names a step.
            var companions: Set<CodingKeys>? {
                switch self {
                case .set: [.to]
                case .if: [.then, .else]
                case .exit, .template: [.error]
                case .error, .loop, .goToLayout, .constrain, .find, .omitRecord, .showAll, .newRecord, .deleteRecord,
                    .closeWindow, .wait:
                    []
                case .to, .then, .else: nil
                }
            }
        }

        /// Reads the form that each case documents. Keys of two steps in one object are an error.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            let keys = Set(container.allKeys)
            guard keys.isEmpty || keys.contains(where: { $0.companions?.union([$0]).isSuperset(of: keys) ?? false })
            else {
                let names = keys.map(\.stringValue).sorted().joined(separator: ", ")
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not the keys of one script step: \(names)")
                )
            }
            if let target = try container.decodeIfPresent(String.self, forKey: .set) {
                self = .set(target, to: try container.decode(String.self, forKey: .to))
            } else if let result = try container.decodeIfPresent(String.self, forKey: .exit) {
                self = .exit(result, error: try container.decodeIfPresent(Quantity.self, forKey: .error))
            } else if let text = try container.decodeIfPresent(String.self, forKey: .template) {
                self = .template(text, error: try container.decodeIfPresent(Quantity.self, forKey: .error))
            } else if let code = try container.decodeIfPresent(Quantity.self, forKey: .error) {
                self = .error(code)
            } else if let steps = try container.decodeIfPresent([Step].self, forKey: .loop) {
                self = .loop(steps)
            } else if let condition = try container.decodeIfPresent(String.self, forKey: .if) {
                self = .branch(
                    condition,
                    then: try container.decode([Step].self, forKey: .then, default: []),
                    else: try container.decode([Step].self, forKey: .else, default: [])
                )
            } else if let layout = try container.decodeIfPresent(String.self, forKey: .goToLayout) {
                self = .goToLayout(layout)
            } else if let condition = try container.decodeIfPresent(String.self, forKey: .constrain) {
                self = .constrain(condition)
            } else if let requests = try container.decodeIfPresent([[String: String]].self, forKey: .find) {
                self = .find(requests)
            } else if let seconds = try container.decodeIfPresent(Quantity.self, forKey: .wait) {
                self = .wait(seconds)
            } else if try container.decode(Bool.self, forKey: .omitRecord, default: false) {
                self = .omitRecord
            } else if try container.decode(Bool.self, forKey: .closeWindow, default: false) {
                self = .closeWindow
            } else if try container.decode(Bool.self, forKey: .showAll, default: false) {
                self = .showAll
            } else if try container.decode(Bool.self, forKey: .newRecord, default: false) {
                self = .newRecord
            } else if try container.decode(Bool.self, forKey: .deleteRecord, default: false) {
                self = .deleteRecord
            } else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not a script step")
                )
            }
        }

        /// Writes what ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .set(let target, let value):
                try container.encode(target, forKey: .set)
                try container.encode(value, forKey: .to)
            case .exit(let result, let error):
                try container.encode(result, forKey: .exit)
                try container.encodeIfPresent(error, forKey: .error)
            case .template(let text, let error):
                try container.encode(text, forKey: .template)
                try container.encodeIfPresent(error, forKey: .error)
            case .error(let code): try container.encode(code, forKey: .error)
            case .loop(let steps): try container.encode(steps, forKey: .loop)
            case .branch(let condition, let then, let otherwise):
                try container.encode(condition, forKey: .if)
                try container.encode(then, forKey: .then)
                try container.encode(otherwise, forKey: .else)
            case .goToLayout(let name): try container.encode(name, forKey: .goToLayout)
            case .constrain(let condition): try container.encode(condition, forKey: .constrain)
            case .find(let requests): try container.encode(requests, forKey: .find)
            case .omitRecord: try container.encode(true, forKey: .omitRecord)
            case .closeWindow: try container.encode(true, forKey: .closeWindow)
            case .showAll: try container.encode(true, forKey: .showAll)
            case .newRecord: try container.encode(true, forKey: .newRecord)
            case .deleteRecord: try container.encode(true, forKey: .deleteRecord)
            case .wait(let seconds): try container.encode(seconds, forKey: .wait)
            }
        }
    }
}
