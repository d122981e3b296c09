extension WireValue {
    /// Reads JSON. Members keep their order, also those that occur twice, and numbers their spelling.
    ///
    /// - Returns: `nil` for bytes that are not JSON.
    package init?(reading json: some Collection<UInt8>) {
        let document = JSONDocument(limits: JSONLimits(maximumValueBytes: Int(UInt32.max)), capacity: json.count)
        ContiguousArray(json).withUnsafeBytes(document.append)
        guard (try? document.readWhole()) != nil else { return nil }
        self = document.value(at: 0)
    }
}

extension JSONDocument {
    /// The value of an entry of the tape. It nests no deeper than ``JSONLimits/maximumDepth``.
    fileprivate func value(at index: UInt32) -> WireValue {
        let entry = self[index]
        switch entry.kind {
        case .object:
            var members: [WireValue.Member] = []
            var key = index + 1
            while key < entry.link {
                members.append(WireValue.Member(name: text(self[key]), value: value(at: key + 1)))
                key = tape.end(of: key + 1)
            }
            return .object(members)
        case .array:
            var elements: [WireValue] = []
            var element = index + 1
            while element < entry.link {
                elements.append(value(at: element))
                element = tape.end(of: element)
            }
            return .array(elements)
        case .string, .key: return .text(text(entry))
        case .number: return .literal(String(decoding: content(entry), as: UTF8.self))
        case .true: return .literal("true")
        case .false: return .literal("false")
        case .null: return .literal("null")
        }
    }
}
