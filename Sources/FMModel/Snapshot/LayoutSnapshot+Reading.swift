package import Foundation

/// An error in a file of the snapshot or in the settings next to it.
package struct SnapshotError: Error, Equatable, CustomStringConvertible {
    package var file: String
    package var reason: String

    package var description: String { "\(file): \(reason)" }
}

extension LayoutSnapshot {
    /// Parses a file of the snapshot.
    ///
    /// - Parameter file: The file's name, for errors.
    package init(reading data: Data, file: String) throws(SnapshotError) {
        do {
            self = try JSONDecoder().decode(LayoutSnapshot.self, from: data)
        } catch let error as DecodingError {
            throw SnapshotError(file: file, reason: error.inWords)
        } catch {
            throw SnapshotError(file: file, reason: "\(error)")
        }
        if let reason = firstMistake { throw SnapshotError(file: file, reason: reason) }
    }

    /// The first error that a user may have made by editing the file, and that the compiler would report in another
    /// place.
    private var firstMistake: String? {
        let properties = fields.map { ($0.description.name, $0.swift) }
        let types = portals.map { ($0.name, $0.swiftRow) } + valueLists.map { ($0.name, $0.swift) }
        let scopes =
            [properties + types, portals.map { ($0.name, $0.swift) }]
            + portals.map { $0.fields.map { ($0.description.name, $0.swift) } }
            + valueLists.map { $0.values.map { ($0.value, $0.swift) } }
        return Self.mistake(in: [(layout, swift)]) ?? scopes.lazy.compactMap(Self.mistake).first ?? takenName
    }

    /// The error for the first identifier that has another meaning where it would be declared.
    private var takenName: String? {
        var styles: [(names: [(String, String)], style: NameStyle)] = [
            ([(layout, swift)], .layouts),
            (fields.map { ($0.description.name, $0.swift) }, .fields([])),
            (portals.map { ($0.name, $0.swift) }, .portals),
            (portals.map { ($0.name, $0.swiftRow) }, .rows([])),
            (valueLists.map { ($0.name, $0.swift) }, .lists([])),
        ]
        styles += portals.map { portal in
            (portal.fields.map { ($0.description.name, $0.swift) }, .rowFields([]))
        }
        styles += valueLists.map { list in (list.values.map { ($0.value, $0.swift) }, .values) }
        for (names, style) in styles {
            if let (name, swift) = names.first(where: { style.reserved.contains($1) }) {
                return "\(Literal(name)) cannot be called \(swift), which means something else there"
            }
        }
        return portals.lazy.compactMap { portal in
            portal.fields.first { NameStyle.rowIds.contains($0.description.name) }.map { field in
                "portal \(Literal(portal.name)): \(Literal(field.description.name)) is the row's own id and no field"
            }
        }
        .first
    }

    private static func mistake(in scope: [(name: String, swift: String)]) -> String? {
        var owners: [String: String] = [:]
        for (name, swift) in scope {
            guard SwiftIdentifier.isValid(swift) else { return "\(Literal(swift)) is no name for Swift" }
            if let other = owners.updateValue(name, forKey: swift) {
                return "\(Literal(other)) and \(Literal(name)) are both called \(swift)"
            }
        }
        return nil
    }
}

extension LayoutSnapshot: Decodable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case format, layout, swift, table, fields, portals, valueLists
    }

    package init(from decoder: any Decoder) throws {
        let format = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .format)
        guard format == Self.format else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "format \(format) is of another version of fmdata; this one reads \(Self.format)"
                )
            )
        }
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        layout = try container.decode(String.self, forKey: .layout)
        swift = try container.decode(String.self, forKey: .swift)
        table = try container.decodeIfPresent(String.self, forKey: .table)
        fields = try container.decode([Field].self, forKey: .fields)
        portals = try container.decodeIfPresent([Portal].self, forKey: .portals) ?? []
        valueLists = try container.decodeIfPresent([ValueList].self, forKey: .valueLists) ?? []
    }
}

extension LayoutSnapshot.Field: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, swift, result, type, reading = "as", write, display, valueList, global, autoEnter, notEmpty, numeric
        case fourDigitYear, timeOfDay, maxCharacters, repetitions, shown
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: key) ?? false }
        description = FieldDescription(try container.decode(String.self, forKey: .name))
        swift = try container.decode(String.self, forKey: .swift)
        reading = try container.decodeIfPresent(LayoutSnapshot.Reading.self, forKey: .reading)
        isWritten = try flag(.write)
        description.result = try container.decode(String.self, forKey: .result)
        description.kind = try container.decodeIfPresent(String.self, forKey: .type) ?? "normal"
        description.display = try container.decodeIfPresent(String.self, forKey: .display)
        description.valueList = try container.decodeIfPresent(String.self, forKey: .valueList)
        description.isGlobal = try flag(.global)
        description.isAutoEntered = try flag(.autoEnter)
        description.isNotEmpty = try flag(.notEmpty)
        description.isNumeric = try flag(.numeric)
        description.needsFourDigitYear = try flag(.fourDigitYear)
        description.isTimeOfDay = try flag(.timeOfDay)
        description.maxCharacters = try container.decodeIfPresent(Int.self, forKey: .maxCharacters)
        description.repetitions = try container.decodeIfPresent(Int.self, forKey: .repetitions) ?? 1
        if let ends = try container.decodeIfPresent([Int].self, forKey: .shown) {
            guard ends.count == 2, 1 <= ends[0], ends[0] <= ends[1] else {
                throw DecodingError.dataCorruptedError(
                    forKey: .shown,
                    in: container,
                    debugDescription: "expected the first and the last repetition, from 1 on"
                )
            }
            description.shown = ends[0]...ends[1]
        }
    }
}

extension LayoutSnapshot.Reading: Decodable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let reading = Self(rawValue: text) else {
            let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "unknown type \(Literal(text)); known are \(known)"
                )
            )
        }
        self = reading
    }
}

extension LayoutSnapshot.Portal: Decodable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case name, swift, swiftRow, fields
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        swift = try container.decode(String.self, forKey: .swift)
        swiftRow = try container.decode(String.self, forKey: .swiftRow)
        fields = try container.decode([LayoutSnapshot.Field].self, forKey: .fields)
    }
}

extension LayoutSnapshot.ValueList: Decodable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case name, swift, values
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        swift = try container.decode(String.self, forKey: .swift)
        values = try container.decode([LayoutSnapshot.Value].self, forKey: .values)
    }
}

extension LayoutSnapshot.Value: Decodable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case value, swift
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        value = try container.decode(String.self, forKey: .value)
        swift = try container.decode(String.self, forKey: .swift)
    }
}
