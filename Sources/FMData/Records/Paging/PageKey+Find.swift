extension PageKey {
    /// The text of a find criterion for the key.
    var criterion: String {
        switch self {
        case .number(let number): number.findText ?? number.literal
        case .text(let text): text
        }
    }
}

extension DataAPI.FindField {
    /// A find for values within these bounds, both included. Without bounds, it finds every value that is not empty.
    func lies(_ from: PageKey?, _ through: PageKey?) -> DataAPI.Find {
        switch (from, through) {
        case (nil, nil): isNotEmpty
        case (let from?, nil): isAtLeast(from)
        case (nil, let through?): isAtMost(through)
        case (let from?, let through?): isAtLeast(from) && isAtMost(through)
        }
    }

    private func isAtLeast(_ key: PageKey) -> DataAPI.Find {
        switch key {
        case .number(let number): self >= number
        case .text(let text): self >= text
        }
    }

    private func isAtMost(_ key: PageKey) -> DataAPI.Find {
        switch key {
        case .number(let number): self <= number
        case .text(let text): self <= text
        }
    }
}

extension DataAPI.Layout {
    /// The value of a field of a record, read by encoding the record: the record's type knows the field's name and
    /// format.
    func key(_ name: String, of fields: some Encodable) throws -> PageKey? {
        let server = database.server
        var options = server.encoding
        // Nothing is sent. Fields without a value must be in the output, and fields that may not be written do no harm.
        options.nilValues = .empty
        options.dates = .timestamps
        let encoder = FMEncoder(options: options, recordEncoder: server.config.encoder)
        let wireName = if case .custom(let convert) = options.keys { convert(name) } else { name }
        let value = try encoder.wireValue(of: fields, .fields).members.first { $0.name == wireName }?.value
        switch value {
        case .literal(let literal)?: return FMNumber(literal).map(PageKey.number)
        case .text(let text)?: return PageKey(text: text)
        case .array?, .object?, nil:
            throw FMRest.APIError(
                .invalidRequest,
                reason: "\(type(of: fields)) has no field \"\(name)\", by which its pages are to be read.",
                hint: "Add the key to the type, or page by another field."
            )
        }
    }
}
