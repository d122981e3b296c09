@testable import FMModel

/// A layout with the most difficult names (pitfall 1) and each kind of field.
enum HardNames {
    /// The type `Contacts` was named when types had plural names. It keeps its name, which a portal and a value list
    /// have as well.
    static var snapshots: [LayoutSnapshot] {
        let known = LayoutSnapshot(layout: "Contacts", swift: "Contacts", fields: [], portals: [], valueLists: [])
        return LayoutSnapshot.updating([known], with: layouts).layouts.map { $0.layout == "Words" ? asWritten($0) : $0 }
    }

    /// A layout whose fields and values are all keywords. Each keeps its own name wherever Swift allows that.
    private static let words = LayoutDescription(
        name: "Words",
        fields: CompilerKeywords.all.map { .made($0) } + [
            .made("chosen") {
                $0.display = "popupMenu"
                $0.valueList = "Keywords"
            }
        ],
        portals: ["await", "class", "Any", "async"].map {
            .init(name: $0, fields: [.made("X::\($0)"), .made("X::other")])
        },
        valueLists: [.init(name: "Keywords", isCustom: true, values: CompilerKeywords.all)]
    )

    private static func asWritten(_ layout: LayoutSnapshot) -> LayoutSnapshot {
        func name(_ word: String, _ given: String, _ style: NameStyle) -> String {
            CompilerKeywords.all.contains(word) && !style.reserved.contains(word) ? word : given
        }
        var layout = layout
        for place in layout.fields.indices {
            layout.fields[place].swift = name(
                layout.fields[place].description.name,
                layout.fields[place].swift,
                .fields([])
            )
        }
        for place in layout.portals.indices {
            layout.portals[place].swift = name(layout.portals[place].name, layout.portals[place].swift, .portals)
        }
        for list in layout.valueLists.indices {
            for place in layout.valueLists[list].values.indices {
                let value = layout.valueLists[list].values[place]
                layout.valueLists[list].values[place].swift = name(value.value, value.swift, .values)
            }
        }
        return layout
    }

    private static let layouts = [
        LayoutDescription(
            name: "Contacts",
            table: "Contacts",
            fields: names.map { .made($0) } + kinds + chosen + [.made("Name")],
            portals: [
                // This portal has the name of the layout.
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
        // Letters without case: a type, a property, a portal and a row get the same name.
        LayoutDescription(
            name: "顧客",
            fields: [.made("顧客"), .made("顧客 Row")],
            portals: [.init(name: "顧客", fields: [.made("X::顧客")])]
        ),
        words,
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
