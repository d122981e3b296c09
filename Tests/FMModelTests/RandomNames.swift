import FMTestSupport

@testable import FMModel

/// Random names, very unusual ones and common ones.
enum RandomNames {
    private static let parts = [
        "Name", "total", "ID", "order", "a", "B", "_", "-", " ", "::", "%", "#", "€", "+", "&", "(2)", "1",
        "42", "é", "e\u{301}", "ß", "Größe", "名", "前", "日付", "हि", "한", "\u{1112}\u{1161}", "😀", "\\", "\"",
        "\\(", "\n", "\r", "\t", "\u{0}", "\u{2028}", "\u{200B}", "\u{FEFF}", "$", "`", "'", "/*", "*/", "//",
        "\u{301}", "İ", "ŉ", "ﬁ", "²", "١", "class", "self", "init", "Type", "none", "default", "recordId",
        "modId", "Self", "z_", ".", "#\"", "\u{E000}", "\u{10FFFF}", "ǅ",
    ]

    static func name(using random: inout SeededRandom) -> String {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }

    /// Names that are all different, byte for byte.
    static func fields(count: Int, using random: inout SeededRandom) -> [String] {
        var seen: Set<SchemaName> = []
        return (0..<count).map { _ in name(using: &random) }.filter { seen.insert(SchemaName($0)).inserted }
    }

    /// A layout with random properties.
    static func layout(using random: inout SeededRandom) -> LayoutDescription {
        let lists = (0..<3).map { _ in
            LayoutDescription.ValueList(
                name: name(using: &random),
                isCustom: Bool.random(using: &random),
                values: (0..<6).map { _ in name(using: &random) }
            )
        }
        let names = fields(count: 25, using: &random)
        let described = names.map { name in field(name, lists: lists.map(\.name), using: &random) }
        let portals = fields(count: 3, using: &random).map { name in
            let names = fields(count: 10, using: &random)
            return LayoutDescription.Portal(
                name: name,
                fields: names.map { field($0, lists: lists.map(\.name), using: &random) }
            )
        }
        return LayoutDescription(
            name: name(using: &random),
            table: Bool.random(using: &random) ? name(using: &random) : nil,
            fields: described,
            portals: portals,
            valueLists: lists
        )
    }

    private static func field(
        _ name: String,
        lists: [String],
        using random: inout SeededRandom
    ) -> FieldDescription {
        var field = FieldDescription(name)
        field.kind =
            ["normal", "normal", "normal", "calculation", "summary", "dream"].randomElement(using: &random) ?? ""
        field.result =
            ["text", "text", "number", "date", "time", "timeStamp", "container", "vector"].randomElement(using: &random)
            ?? ""
        field.display = [nil, "editText", "popupMenu", "checkBox"].randomElement(using: &random) ?? nil
        field.valueList = Bool.random(using: &random) ? lists.randomElement(using: &random) : nil
        field.isGlobal = Int.random(in: 0..<6, using: &random) == 0
        field.isAutoEntered = Bool.random(using: &random)
        field.isNotEmpty = Bool.random(using: &random)
        field.maxCharacters = [nil, 20].randomElement(using: &random) ?? nil
        field.repetitions = [1, 1, 5].randomElement(using: &random) ?? 1
        if field.repetitions > 1 {
            field.shown = [1...5, 2...4, 3...3, 1...1].randomElement(using: &random) ?? 1...1
        }
        return field
    }
}
