@testable import FMModel

/// A layout whose names are as bad as they come (pitfall 1), with each kind of field.
enum HardNames {
    static let layouts = [
        LayoutDescription(
            name: "Contacts",
            table: "Contacts",
            fields: names.map { .made($0) } + kinds + chosen + [.made("Name")],
            portals: [
                // As the layout itself.
                .init(
                    name: "Contacts",
                    fields: names.map { .made("Phones::\($0)") } + [.made("Phones::recordId"), .made("Phones::mod_id")]
                ),
                .init(name: "Caf\u{E9}", fields: [.made("X::a") { $0.kind = "calculation" }]),
                .init(name: "Cafe\u{301}", fields: [.made("Composers::label"), .made("Epochs::label")] + kinds),
                .init(name: "名前", fields: []),
            ],
            valueLists: [
                .init(
                    name: "名前",
                    isCustom: true,
                    values: ["名前", "none", "some", "self", "init", "a b", "a-b", "-", "", "1", "\"\\()", "Größe"]
                ),
                .init(name: "Contacts", isCustom: true, values: ["one"]),
                .init(name: "Codes", isCustom: false, values: ["a customer's"]),
            ]
        ),
        LayoutDescription(name: "Nothing", fields: []),
        LayoutDescription(name: "String", fields: [.made("a") { $0.kind = "summary" }]),
        LayoutDescription(name: "Order", fields: [.made("X::a")]),
        // Letters without case: the type, a property, a portal and a row have one name.
        LayoutDescription(
            name: "顧客",
            fields: [.made("顧客"), .made("顧客 Row")],
            portals: [.init(name: "顧客", fields: [.made("X::顧客")])]
        ),
        LayoutDescription(name: "ORDER", fields: [.made("g") { $0.isGlobal = true }]),
    ]

    static let names = [
        "Name", "A-B", "A B", "a_b", "Caf\u{E9}", "Cafe\u{301}", "Type", "1st", "名前", "self", "init", "Self",
        "Protocol", "CodingKeys", "allCases", "none", "some", "default", "description", "hash", "hashValue",
        "encode", "rawValue", "id", "Say \"Ahoy\" \\o/", "\\(name)", "tab\there", "line\u{2028}end", "Größe",
        "größe", "%", "#", "Total", "Total %", "class", "Any", "encoder", "container", "value", "number",
        "repetitions", "layout", "Record", "Changes", "global fields", "deleteRelated", "*/", "日付/開始", "हिन्दी",
        "\u{1112}\u{1161}\u{11AB}", "😀",
        "The name of a field may have as many as one hundred characters, which is more than a line has room fo",
    ]

    private static let kinds: [FieldDescription] = [
        "text", "number", "date", "time", "timeStamp", "container", "vector",
    ]
    .flatMap { result in
        ["normal", "calculation"].flatMap { kind in
            [(1, 1...1), (3, 1...3), (5, 2...4), (5, 3...3)].map { count, shown in
                .made("F \(result) \(kind) \(count) \(shown.lowerBound)") {
                    $0.result = result
                    $0.kind = kind
                    $0.repetitions = count
                    $0.shown = shown
                }
            }
        }
    }

    private static let chosen: [FieldDescription] = ["popupMenu", "checkBox"].flatMap { display in
        ["名前", "Contacts", "Codes"].flatMap { list in
            [(false, 1, 1...1), (true, 1, 1...1), (false, 3, 1...3), (true, 5, 2...4)].map { isGlobal, count, shown in
                .made("C \(display) \(list) \(isGlobal) \(count)") {
                    $0.display = display
                    $0.valueList = list
                    $0.isGlobal = isGlobal
                    $0.repetitions = count
                    $0.shown = shown
                }
            }
        }
    }
}
