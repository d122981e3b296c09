import FMSandbox
import Foundation

/// A file with names that are difficult for programs: in three scripts, with special characters, with leading digits,
/// and reserved words of Swift.
enum Harbour {
    static func solution() throws -> Solution {
        try JSONDecoder().decode(Solution.self, from: Data(text.utf8))
    }

    private static let text = #"""
        {
          "name": "Harbour",
          "tables": [
            {
              "name": "Schiffe",
              "fields": [
                "Name", "名前", "class", "init", "2nd Mate", "Kran-Nr", "Kran Nr", "Say \"Ahoy\" \\o/",
                {"name": "Größe", "type": "number", "validation": {"notEmpty": true}},
                {"name": "Total", "type": "number"},
                {"name": "Total %", "type": "number"},
                {"name": "#", "type": "number", "autoEnter": "serial"},
                {"name": "Café", "type": "date"},
                {"name": "Flagge", "validation": {"valueList": "Flaggen & Farben"}},
                "Ausrüstung",
                {"name": "Messwert", "type": "number", "repetitions": 5},
                {"name": "Länge × Breite", "type": "number", "calculation": "Größe * 2"},
                {"name": "Foto", "type": "container"},
                {"name": "gJahr", "type": "number", "global": true}
              ],
              "records": [
                {
                  "Name": "Möwe", "名前": "かもめ", "class": "ferry", "init": "i", "2nd Mate": "Ada Lovelace", "Kran-Nr": "K-1",
                  "Kran Nr": "K 2", "Say \"Ahoy\" \\o/": "Ahoy!", "Größe": "120.5", "Total": "7", "Total %": "35",
                  "#": "1", "Café": "05/04/2024", "Flagge": "none", "Ausrüstung": "Kran\rBoot\rHarpune",
                  "Messwert": "1", "Messwert(2)": "2", "Messwert(3)": "2.50", "Messwert(5)": "5"
                },
                {"Name": "Seebär", "#": "2", "Größe": "99", "Flagge": "Totenkopf"}
              ]
            },
            {
              "name": "Ladung",
              "fields": ["Schiff", "recordId", "Name", {"name": "Gewicht", "type": "number"}],
              "records": [
                {"Schiff": "Möwe", "recordId": "L-17", "Name": "Tee", "Gewicht": "12"},
                {"Schiff": "Möwe", "recordId": "L-18", "Name": "Kaffee", "Gewicht": "8.25"}
              ]
            }
          ],
          "relationships": [
            {
              "left": "Schiffe", "right": "Ladung", "matches": [{"left": "Name", "right": "Schiff"}],
              "rightRules": {"allowsCreation": true}
            }
          ],
          "valueLists": [
            {"name": "Flaggen & Farben", "values": ["none", "rot-weiß", "rot weiß", "-", "Type", "1"]},
            {"name": "Ausrüstung", "values": ["Kran", "Boot"]},
            {"name": "Namen", "field": "Schiffe::Name"}
          ],
          "layouts": [
            {
              "name": "Schiffe",
              "table": "Schiffe",
              "fields": [
                "Name", "名前", "class", "init", "2nd Mate", "Kran-Nr", "Kran Nr", "Say \"Ahoy\" \\o/", "Größe", "Total",
                "Total %", "#", "Café",
                {"field": "Flagge", "display": "popupMenu", "valueList": "Flaggen & Farben"},
                {"field": "Ausrüstung", "display": "checkBox", "valueList": "Ausrüstung"},
                {"field": "Messwert", "firstRepetition": 2, "lastRepetition": 4},
                "Länge × Breite", "Foto", "gJahr", "Ladung::Name"
              ],
              "portals": [
                {"table": "Ladung", "name": "Schiffe", "fields": ["Ladung::recordId", "Ladung::Name", "Ladung::Gewicht"]}
              ]
            },
            {"folder": "日報", "items": [
              {"name": "1. Reede / 100 %", "table": "Schiffe", "fields": [
                {"field": "Name", "display": "popupList", "valueList": "Namen"}, "#"
              ]}
            ]}
          ],
          "accounts": [{"name": "hafen", "password": "meister"}]
        }
        """#
}
