import NIOCore

@testable import FMDataFleet

/// An input is what a store sends. It must mean the same however it is cut.
enum RESPFuzz {
    static func test(_ input: UnsafeRawBufferPointer) {
        let whole = outcome(of: [ByteBuffer(bytes: input)])
        let pieces = outcome(of: input.map { ByteBuffer(bytes: [$0]) })
        require(whole == pieces, "\(whole) becomes \(pieces)")
    }

    /// The values and the failure, as texts: one number that is none differs from another.
    private static func outcome(of pieces: [ByteBuffer]) -> [String] {
        var parser = RESPParser()
        var outcome: [String] = []
        for piece in pieces {
            parser.append(piece)
            do throws(RESPParser.Failure) {
                while let value = try parser.next() { outcome.append("\(value)") }
            } catch {
                return outcome + ["\(error)"]
            }
        }
        return outcome
    }
}
