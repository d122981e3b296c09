import FMData
import FMModel

extension LayoutDescription {
    /// Makes a description from a host's metadata.
    init(name: String, table: String?, _ metadata: DataAPI.Layout.LayoutMetaData) {
        self.init(
            name: name,
            table: table,
            fields: metadata.fieldMetaData.map(FieldDescription.init),
            portals: metadata.portalMetaData.map {
                Portal(name: $0.key, fields: $0.value.map(FieldDescription.init))
            },
            valueLists: (metadata.valueLists ?? []).map { list in
                ValueList(
                    name: list.name,
                    isCustom: list.type == "customList",
                    values: list.values.map(\.value)
                )
            }
        )
        ambiguousPortals = metadata.ambiguousPortals
    }
}

extension FieldDescription {
    fileprivate init(_ field: DataAPI.Layout.LayoutMetaData.FieldMetaData) {
        self.init(field.name)
        kind = field.type.rawValue
        result = field.result.rawValue
        display = field.displayType == .editText ? nil : field.displayType?.rawValue
        valueList = field.valueList.flatMap { $0.isEmpty ? nil : $0 }
        isGlobal = field.global
        isAutoEntered = field.autoEnter
        isNotEmpty = field.notEmpty
        isNumeric = field.numeric
        needsFourDigitYear = field.fourDigitYear
        isTimeOfDay = field.timeOfDay
        maxCharacters = field.maxCharacters.flatMap { $0 > 0 ? $0 : nil }
        // Older hosts, on which layouts could not show part of the repetitions, do not report the range.
        let start = Self.repetition(field.repetitionStart ?? 1)
        repetitions = Self.repetition(field.maxRepeat)
        let last = field.repetitionEnd ?? start + Self.repetition(field.repetitions ?? repetitions) - 1
        shown = start...max(start, Self.repetition(last))
    }

    /// Limits a number to what FileMaker allows, whatever the host reports.
    private static func repetition(_ number: Int) -> Int { min(max(1, number), 32_000) }
}
