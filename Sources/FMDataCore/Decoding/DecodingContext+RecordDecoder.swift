import Foundation

/// Uses the user's own `JSONDecoder` for the object `fieldData` and for the rows of portals. The envelope around them,
/// the ids and the names of portals are read by the library, independently of that decoder's key strategy.
extension DecodingContext {
    /// Whether that decoder has to read the value. Within a record only the record itself is an object; no field
    /// contains one.
    @inline(__always)
    func isForeign(_ node: UInt32, _ mode: Mode) -> Bool {
        rules.contains(.recordDecoder) && mode == .fields && entry(node).kind == .object
    }

    func decodeForeign<T: Decodable>(_ type: T.Type, _ node: UInt32) throws -> T {
        guard let recordDecoder else { preconditionFailure("the rule is set for contexts with such a decoder") }
        do {
            return try recordDecoder.decode(type, from: Data(objectText(node)))
        } catch let error as DecodingError {
            throw error.below(codingPath(node))
        }
    }

    /// The text of an object. It is known to be valid JSON.
    fileprivate func objectText(_ node: UInt32) -> UnsafeBufferPointer<UInt8> {
        let object = entry(node)
        let text = document.bytes + document.valueStart + Int(object.offset)
        var end = 0
        if object.isFlat(at: node), object.length > 0 {
            // The object ends at the first brace behind its last value: between them are a quotation mark and white
            // space at most.
            let last = document[object.link - 1]
            end = Int(last.offset - object.offset + last.length)
            while text[end] != UInt8(ascii: "}") { end += 1 }
            return UnsafeBufferPointer(start: text, count: end + 1)
        }
        var depth = 0
        var isInString = false
        repeat {
            switch text[end] {
            case UInt8(ascii: "\\") where isInString: end += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "{") where !isInString: depth += 1
            case UInt8(ascii: "}") where !isInString: depth -= 1
            default: break
            }
            end += 1
        } while depth > 0
        return UnsafeBufferPointer(start: text, count: end)
    }
}

extension ValueDecoder {
    /// The text of the value, if it is an object of which no other decoder reads a part.
    var ownObjectText: [UInt8]? {
        guard context.recordDecoder == nil, context.isOnTape(node), context.entry(node).kind == .object else {
            return nil
        }
        return Array(context.objectText(node))
    }
}

extension DecodingError {
    /// Prefixes the path of an error of a decoder that read only a part of the text.
    fileprivate func below(_ path: [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError
            )
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
