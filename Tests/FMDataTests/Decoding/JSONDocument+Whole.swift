@testable import FMData

/// One text and nothing else, as the robustness tests ask for it.
extension JSONDocument {
    /// Whether the bytes are a JSON text as a whole.
    static func takes(_ bytes: ArraySlice<UInt8>) -> Bool {
        let document = JSONDocument()
        bytes.withUnsafeBytes { document.append($0) }
        return (try? document.readWhole()) != nil
    }

    /// What is on the tape when the bytes come in two parts.
    static func tape(of bytes: [UInt8], splitAt place: Int) throws -> [JSONTape.Entry] {
        let document = JSONDocument()
        bytes[..<place].withUnsafeBytes { document.append($0) }
        var isBegun = false
        for isLast in [false, true] {
            if isLast { bytes[place...].withUnsafeBytes { document.append($0) } }
            if !isBegun {
                guard document.skipByteOrderMark(), document.nextByte() != nil else { continue }
                document.beginValue()
                isBegun = true
            }
            if try document.readValue(isLast: isLast) == .complete { break }
        }
        return (0..<document.tape.count).map { document.tape.entries[$0] }
    }
}
