extension LayoutSnapshot {
    /// The version of the snapshot format. Another version is an error when a snapshot is read.
    static let format = 1

    /// The snapshot as the text of a file, with a line for each field and each value. Equal snapshots have equal texts.
    package var fileText: String {
        var members: [String: SnapshotJSON] = [
            "format": .number(Self.format),
            "layout": .text(layout),
            "swift": .text(swift),
            "fields": .list(fields.map(\.json)),
        ]
        if let table { members["table"] = .text(table) }
        if !portals.isEmpty { members["portals"] = .list(portals.map(\.json)) }
        if !valueLists.isEmpty { members["valueLists"] = .list(valueLists.map(\.json)) }
        return SnapshotJSON.object(members).fileText
    }
}

extension LayoutSnapshot.Field {
    /// The members of the field, without those that have their most common value.
    fileprivate var json: SnapshotJSON {
        var members: [String: SnapshotJSON] = [
            "name": .text(description.name),
            "swift": .text(swift),
            "result": .text(description.result),
        ]
        if description.kind != "normal" { members["type"] = .text(description.kind) }
        if let reading { members["as"] = .text(reading.rawValue) }
        if isWritten { members["write"] = .flag(true) }
        if let display = description.display { members["display"] = .text(display) }
        if let list = description.valueList { members["valueList"] = .text(list) }
        if description.isGlobal { members["global"] = .flag(true) }
        if description.isAutoEntered { members["autoEnter"] = .flag(true) }
        if description.isNotEmpty { members["notEmpty"] = .flag(true) }
        if description.isNumeric { members["numeric"] = .flag(true) }
        if description.needsFourDigitYear { members["fourDigitYear"] = .flag(true) }
        if description.isTimeOfDay { members["timeOfDay"] = .flag(true) }
        if let count = description.maxCharacters { members["maxCharacters"] = .number(count) }
        if description.repetitions != 1 { members["repetitions"] = .number(description.repetitions) }
        if description.shown != 1...1 {
            members["shown"] = .list([.number(description.shown.lowerBound), .number(description.shown.upperBound)])
        }
        return .object(members)
    }
}

extension LayoutSnapshot.Portal {
    fileprivate var json: SnapshotJSON {
        .object([
            "name": .text(name),
            "swift": .text(swift),
            "swiftRow": .text(swiftRow),
            "fields": .list(fields.map(\.json)),
        ])
    }
}

extension LayoutSnapshot.ValueList {
    fileprivate var json: SnapshotJSON {
        .object([
            "name": .text(name),
            "swift": .text(swift),
            "values": .list(values.map { .object(["value": .text($0.value), "swift": .text($0.swift)]) }),
        ])
    }
}
