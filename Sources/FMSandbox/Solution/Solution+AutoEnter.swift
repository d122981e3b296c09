extension Solution {
    /// A value that FileMaker enters automatically.
    public enum AutoEnter: Codable, Sendable, Equatable {
        /// The next serial number; see ``Field/nextSerial``.
        case serial
        /// The date on which the record was created.
        case creationDate
        /// The time the record was created.
        case creationTime
        /// The date and time at which the record was created.
        case creationTimestamp
        /// The account that created the record.
        case creationAccount
        /// The date of the last change.
        case modificationDate
        /// The time of the last change.
        case modificationTime
        /// The date and time of the last change.
        case modificationTimestamp
        /// The account that made the last change.
        case modificationAccount
        /// A text that no other record has. The sandbox derives it from a counter.
        case uuid
        /// A constant: `{"constant": "open"}`.
        case constant(String)
        /// The result of a formula for the new record: `{"calculation": "First & Last"}`. It is evaluated again when a
        /// field in the formula changes, but replaces a value only with `"replacesExisting": true`. Then a formula that
        /// names its own field changes each value as it is entered: `Upper ( Code )` for the field `Code`.
        case calculation(String, replacesExisting: Bool = false)

        /// The values that a solution file writes as a word.
        enum Word: String, CaseIterable {
            case serial, creationDate, creationTime, creationTimestamp, creationAccount
            case modificationDate, modificationTime, modificationTimestamp, modificationAccount, uuid

            var entry: AutoEnter {
                switch self {
                case .serial: .serial
                case .creationDate: .creationDate
                case .creationTime: .creationTime
                case .creationTimestamp: .creationTimestamp
                case .creationAccount: .creationAccount
                case .modificationDate: .modificationDate
                case .modificationTime: .modificationTime
                case .modificationTimestamp: .modificationTimestamp
                case .modificationAccount: .modificationAccount
                case .uuid: .uuid
                }
            }
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case constant, calculation, replacesExisting }

        /// Reads a word, or an object with the key `constant` or `calculation`.
        public init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                guard let word = Word(rawValue: text) else { throw Self.failure(decoder) }
                self = word.entry
                return
            }
            guard (try? decoder.container(keyedBy: AnyKey.self)) != nil else { throw Self.failure(decoder) }
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            let constant = try container.decodeIfPresent(LooseText.self, forKey: .constant)?.text
            let calculation = try container.decodeIfPresent(String.self, forKey: .calculation)
            let replaces = try container.decodeIfPresent(Bool.self, forKey: .replacesExisting)
            switch (constant, calculation, replaces) {
            case (let text?, nil, nil): self = .constant(text)
            case (nil, let formula?, _): self = .calculation(formula, replacesExisting: replaces ?? false)
            default:
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath,
                        debugDescription: "expected constant, or calculation with or without replacesExisting"
                    )
                )
            }
        }

        private static func failure(_ decoder: any Decoder) -> DecodingError {
            let choices = "\(SolutionError.choices(Word.self)) or an object with constant or calculation"
            return .typeMismatch(
                AutoEnter.self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected \(choices)")
            )
        }

        /// Writes the format that ``init(from:)`` reads.
        public func encode(to encoder: any Encoder) throws {
            if let word = Word.allCases.first(where: { $0.entry == self }) {
                var container = encoder.singleValueContainer()
                return try container.encode(word.rawValue)
            }
            var container = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .constant(let text): try container.encode(text, forKey: .constant)
            case .calculation(let formula, let replacesExisting):
                try container.encode(formula, forKey: .calculation)
                if replacesExisting { try container.encode(true, forKey: .replacesExisting) }
            default: preconditionFailure("\(self) has a word")
            }
        }
    }
}
