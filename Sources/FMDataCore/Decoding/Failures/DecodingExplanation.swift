/// Turns a ``DecodingCause`` into words, in one place: what is wrong, and what can be done about it.
struct DecodingExplanation: Sendable {
    /// What was read, and by which decoder.
    struct Source {
        /// Whether the text is an answer of a server, rather than a text that the user gave to a decoder.
        var isAnswer: Bool
        /// Whether the decoder is not FMData's own, so that none of its rules apply.
        var isForeign = false

        static let answer = Source(isAnswer: true)
        static let text = Source(isAnswer: false)
    }

    let cause: DecodingCause
    // The default is a value of plain JSON.
    var place = DecodingPlace([], root: .plain)
    var source = Source.text
    var rules: DecodingContext.Rules = []
    /// For a missing key: the other keys of the object.
    var siblings: DecodingCause.OtherKeys?

    // MARK: What is wrong

    /// A sentence without initial capital and full stop.
    var reason: String {
        switch cause {
        case .otherKind(let wanted, .emptyText) where place.isField: empty(wanted)
        case .otherKind(let wanted, let found):
            "expected \(name(wanted)), found \(found?.description ?? "another kind of value")"
        case .empty(let wanted): empty(wanted)
        case .noNumber(let wanted) where wanted == Bool.self: "expected Bool, found a text without a digit"
        case .numberInText(let wanted, hasLines: true): "expected \(wanted), found a text of several lines"
        case .numberInText(let wanted, hasLines: false): "expected \(wanted), found a text that is more than a number"
        case .noNumber(let wanted): "expected \(wanted), found a text without a number in it"
        case .fraction(let wanted): "expected \(wanted), found a number with a fraction"
        case .tooLarge(let wanted): "expected \(wanted), found a number \(excess(over: wanted))"
        case .otherForm(let wanted, let forms, let hasLines):
            "expected \(wanted), written \(forms.map(\.quoted).joined(separator: " or ")), found "
                + (hasLines ? "a text of several lines" : "another text")
        case .unreadable(let wanted, let form): "expected \(wanted), found a text that is no \(form)"
        case .noCase(let wanted, .emptyText) where place.isField:
            "the field is empty, for which the enum \(wanted) has no case"
        case .noCase(let wanted, let found): "expected the enum \(wanted), found \(found) for which it has no case"
        case .missing(let name): missing(name)
        case .endless(let wanted): "\(wanted) is made of itself without end"
        case .gap: "the layout shows a later repetition of the field and not this one"
        case .sameName: "two names differ in nothing but the form of their accents, and a dictionary would lose one"
        case .samePortal: "the layout has two portals of this name, and the rows of one would be lost"
        case .exhausted: "expected another element, but the list ends here"
        case .refused(let found): "the declared type cannot be made of \(found?.description ?? "what stands there")"
        case .thrown(let error): "the declared type threw \(error)"
        case .stated(let words): words
        }
    }

    private func empty(_ wanted: any Any.Type) -> String {
        // An optional becomes `nil` by this rule only.
        rules.contains(.emptyIsNil) && !source.isForeign
            ? "the field is empty, and \(name(wanted)) is not optional"
            : "expected \(name(wanted)), found an empty field"
    }

    private func excess(over wanted: any Any.Type) -> String {
        guard let integer = wanted as? any FixedWidthInteger.Type else { return "that it does not hold" }
        return "outside of \(integer.bounds)"
    }

    private func missing(_ name: String) -> String {
        let (owner, kind) =
            switch (place.mode, place.portal) {
            case (.plain, _): ("the object has", "key")
            case (.portals, _): ("the layout sends", "portal")
            case (.fields, .some), (.kinds, .some): ("the row has", "field")
            case (.fields, nil), (.kinds, nil): (source.isAnswer ? "the layout sends" : "the record has", "field")
            }
        guard let siblings else { return "\(owner) no \(kind) \(name.quoted)" }
        let others =
            switch siblings.count {
            case 0: "nor any other"
            // A layout has few portals, and their names often are not the expected ones, so all of them are listed.
            case _ where place.mode == .portals && !siblings.names.isEmpty:
                "but \(siblings.names.map(\.quoted).joined(separator: ", "))"
            case 1: "but 1 other"
            default: "but \(siblings.count) others"
            }
        return "\(owner) no \(kind) \(name.quoted), \(others)"
    }

    // MARK: What can be done

    /// Whole sentences; `nil` if no advice is known.
    var hint: String? {
        // The user does not declare the types of an answer's own parts.
        if source.isAnswer, place.mode == .plain { return nil }
        return switch cause {
        case .otherKind(let wanted, let found): hint(for: wanted, found)
        case .empty(let wanted): hint(forEmpty: wanted)
        case .noNumber(let wanted): hint(forNoNumber: wanted)
        case .numberInText(let wanted, hasLines: true), .otherForm(let wanted, _, hasLines: true):
            "FMList<\(wanted)> reads a list, one value in each line. Declare it as String to have it as it is."
        case .numberInText:
            "FMNumber reads the number in it as FileMaker does, and so does every type with \(setting("numbers")) = "
                + ".asFileMaker. Declare it as String to have it as it is."
        case .fraction: "Declare it as Double, Decimal or FMNumber."
        case .tooLarge(let wanted):
            wanted is any FixedWidthInteger.Type && wanted != Int.self
                ? "Declare it as Int, or as FMNumber, which holds every number." : "FMNumber holds every number."
        case .otherForm(let wanted, _, hasLines: false):
            "\(formatSetting) says how dates and times are written. For texts of other forms declare it as String "
                + "instead of \(wanted)."
        case .unreadable(let wanted, _): unreadableHint(wanted)
        case .noCase(let wanted, .emptyText) where place.isField: hint(forEmpty: wanted)
        case .noCase(let wanted, let found):
            "Add the case to \(wanted), or declare the field as \(found == .number ? "FMNumber" : "String")."
        case .missing(let name): hint(forMissing: name)
        case .refused: "What it threw is in the failure's `underlying`, which may show the value."
        case .gap(let wanted):
            "Declare the elements as \(optional(wanted)) to get nil for it, or let the layout show all repetitions."
        case .sameName: "FieldData tells them apart."
        case .samePortal:
            "Give each of them an object name in the Inspector of Layout mode: it then takes the place of its table's name, here "
                + "and in all requests."
        case .endless, .exhausted, .thrown, .stated: nil
        }
    }

    private func hint(for wanted: any Any.Type, _ found: DecodingCause.ValueKind?) -> String? {
        if found == .null { return "Declare it as \(optional(wanted))." }
        guard place.isField else { return nil }
        if source.isForeign {
            return "A config.decoder of your own knows nothing of FileMaker's numbers, texts and empty fields."
        }
        switch found {
        case .emptyText:
            return hint(forEmpty: wanted)
        case .text, .number, .boolean:
            if let rule = rule(for: wanted) { return "Turn \(setting(rule)) on." }
            if isName(wanted) { return "A field holds one text or number: declare it as a type that is made of one." }
            return found == .text ? "Declare it as String." : "Declare it as FMNumber, Int or Double."
        case .object, .list, .null, nil:
            return nil
        }
    }

    /// The setting that would have allowed the value, if it is off.
    private func rule(for wanted: any Any.Type) -> String? {
        switch wanted {
        case is Bool.Type: rules.contains(.booleansFromNumbers) ? nil : "booleansFromNumbers"
        case is any NumberValue.Type: rules.contains(.numbersFromText) ? nil : "numbersFromText"
        case is String.Type: rules.contains(.textFromNumbers) ? nil : "textFromNumbers"
        case _ where wanted == [Any].self: rules.contains(.repetitions) ? nil : "repetitions"
        default: nil
        }
    }

    private func hint(forEmpty wanted: any Any.Type) -> String {
        var hint = rules.contains(.emptyIsNil) ? "Declare" : "Turn \(setting("emptyIsNil")) on and declare"
        hint += " it as \(optional(wanted))"
        if wanted is any NumberValue.Type { hint += ", or turn \(setting("emptyIsZero")) on to read 0" }
        return hint + "."
    }

    private func hint(forNoNumber wanted: any Any.Type) -> String {
        guard wanted != Bool.self, rules.contains(.emptyIsNil) else { return "Declare it as String." }
        let type = rules.contains(.numbersAsFileMaker) ? wanted : FMNumber.self
        return "Declare it as String, or as \(type)? to get nil for such texts."
    }

    private func unreadableHint(_ wanted: any Any.Type) -> String {
        let declared = "Declare it as String."
        // `Data` is usually declared to get a container's bytes.
        return String(describing: wanted) == "Data"
            ? declared + " Of a container a field holds the URL; its content is downloaded." : declared
    }

    private func hint(forMissing name: String) -> String {
        if let near = siblings?.near, !near.isEmpty {
            let question = "Did you mean \(near.map(\.quoted).joined(separator: " or "))?"
            let forgetsTable = !name.contains("::") && near.contains { $0.hasSuffix("::" + name) }
            guard forgetsTable, !source.isForeign else { return question }
            return question + " \(setting("keys")) = .withoutTable lets coding keys leave the table out."
        }
        return switch (place.mode, source.isAnswer) {
        case (.plain, _), (_, false):
            "Declare it as an optional if it may be absent."
        case (.fields, _), (.kinds, _):
            "Only fields on the layout are sent: add it to the layout\(place.portal == nil ? "" : "'s portal"), or declare "
                + "it as an optional."
        case (.portals, _):
            "Only portals on the layout are sent: add it to the layout, or declare it as an optional."
        }
    }

    // MARK: Names

    private func setting(_ rule: String) -> String { source.isAnswer ? "config.decoding.\(rule)" : "options.\(rule)" }

    private var formatSetting: String {
        if source.isForeign { return "userInfo[.fileMakerFormat] of the decoder" }
        return source.isAnswer ? "config.dateFormats" : "options.values.format"
    }

    /// Whether the type stands for a kind of JSON value, instead of for itself.
    private func isName(_ type: any Any.Type) -> Bool { type == [String: Any].self || type == [Any].self }

    private func name(_ type: any Any.Type) -> String {
        switch type {
        case _ where type == [String: Any].self: "an object"
        case _ where type == [Any].self: "a list"
        default: "\(type)"
        }
    }

    private func optional(_ type: any Any.Type) -> String { isName(type) ? "an optional" : "\(type)?" }
}

extension FixedWidthInteger {
    fileprivate static var bounds: String { "\(min) to \(max)" }
}

extension String {
    /// The text in quotation marks, so that spaces at its ends are visible; at most 100 characters, with line breaks
    /// and other control characters escaped.
    var quoted: String { "\"\(readable)\"" }

    /// A name from outside, fit for one line of a log.
    var readable: String {
        let limit = 100
        let text = unicodeScalars.prefix(limit + 1).reduce(into: "") { text, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text += "\\u{\(Swift.String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > limit ? text.prefix(limit) + "…" : text
    }
}
