import Foundation

/// A date, a time or both.
protocol CivilValue {
    /// The part of a format for this type.
    static func pattern(of format: ValueFormat) -> CivilPattern
    /// `nil` if there is no such day or time of day.
    init?(_ fields: CivilFields)
}

extension CivilValue {
    /// Reads a text in a format, or in ISO 8601, which is unambiguous.
    static func read(
        _ text: UnsafeBufferPointer<UInt8>,
        _ format: ValueFormat,
        _ shortYears: ValueOptions.ShortYears = .refuse
    ) -> Self? {
        let own = pattern(of: format)
        let iso = pattern(of: .iso)
        let fields =
            CivilFields(reading: text, as: own, shortYears)
            ?? (own == iso ? nil : CivilFields(reading: text, as: iso, .refuse))
        return fields.flatMap(Self.init)
    }
}

extension CodingUserInfoKey {
    /// A ``ValueFormat`` for ``FMDate``, ``FMTime`` and ``FMTimestamp`` in coders other than FMData's own, such as your
    /// own `JSONDecoder`. The default is ``ValueFormat/us``.
    public static let fileMakerFormat = named("FMData.ValueFormat")
    /// A `TimeZone` for ``FMDateOnly`` in coders other than FMData's own. The default is GMT.
    public static let fileMakerTimeZone = named("FMData.TimeZone")

    /// The key with this name.
    static func named(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("every text is a key") }
        return key
    }
}

extension Encoder {
    var fileMakerFormat: ValueFormat { userInfo[.fileMakerFormat] as? ValueFormat ?? .us }
    var fileMakerTimeZone: TimeZone { userInfo[.fileMakerTimeZone] as? TimeZone ?? .gmt }

    func encodeCivil(_ text: String) throws {
        var container = singleValueContainer()
        try container.encode(text)
    }
}

extension Decoder {
    var fileMakerFormat: ValueFormat { userInfo[.fileMakerFormat] as? ValueFormat ?? .us }

    var fileMakerTimeZone: TimeZone {
        if let own = self as? ValueDecoder { return own.context.options.values.timeZone }
        return userInfo[.fileMakerTimeZone] as? TimeZone ?? .gmt
    }

    /// Reads a value with other decoders. FMData's own decoder has a faster path.
    func decodeCivil<Value: CivilValue>() throws -> Value {
        let container = try singleValueContainer()
        var text = try container.decode(String.self)
        let format = fileMakerFormat
        guard let value = text.withUTF8({ Value.read($0, format) }) else {
            // The error must not contain the text, because it is a field's value.
            let cause: DecodingCause =
                text.isEmpty
                ? .empty(wanted: Value.self)
                : .otherForm(
                    wanted: Value.self,
                    forms: [Value.pattern(of: format).description],
                    hasLines: text.hasLineEnds
                )
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: container.codingPath, cause: cause))
        }
        return value
    }
}
