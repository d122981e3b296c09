import FMData

@testable import FMDataCore

/// Reading a single text, as the robustness tests need it.
extension JSONDocument {
    /// Whether the bytes are one complete JSON text.
    static func takes(_ bytes: ArraySlice<UInt8>) -> Bool {
        let document = JSONDocument()
        bytes.withUnsafeBytes { document.append($0) }
        return (try? document.readWhole()) != nil
    }

    /// The entries on the tape after the bytes were read in two parts.
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
