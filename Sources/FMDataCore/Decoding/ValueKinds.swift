import Foundation

// What the rules need to know about types that they get as generic parameters.

/// `Optional`, for the rule that an empty field is `nil`.
protocol OptionalValue {
    static var emptyTextIsNil: Bool { get }
    /// The wrapped type, if it is a number; `nil` otherwise.
    static var number: (any NumberValue.Type)? { get }
}

extension Optional: OptionalValue {
    static var emptyTextIsNil: Bool { !(Wrapped.self is any TextValue.Type) }
    static var number: (any NumberValue.Type)? { Wrapped.self as? any NumberValue.Type }
}

/// A type for which an empty text is a value.
protocol TextValue {}

extension String: TextValue {}
extension FieldValue: TextValue {}

/// A type of number: if it is optional, a field without a number is `nil`.
protocol NumberValue {}

extension Bool: NumberValue {}
extension Int: NumberValue {}
extension Int8: NumberValue {}
extension Int16: NumberValue {}
extension Int32: NumberValue {}
extension Int64: NumberValue {}
extension UInt: NumberValue {}
extension UInt8: NumberValue {}
extension UInt16: NumberValue {}
extension UInt32: NumberValue {}
extension UInt64: NumberValue {}
extension Double: NumberValue {}
extension Float: NumberValue {}
extension Decimal: NumberValue {}
extension FMNumber: NumberValue {}

/// A dictionary, for the rule that no name may be lost.
protocol DictionaryValue {
    static var hasTextKeys: Bool { get }
}

extension Dictionary: DictionaryValue {
    static var hasTextKeys: Bool { Key.self == String.self }
}

/// A list that repetitions of a field or rows of a portal can fill.
protocol ListValue {
    /// The type of its elements.
    static var element: any Any.Type { get }
}

extension Array: ListValue {
    static var element: any Any.Type { Element.self }
}

extension ContiguousArray: ListValue {
    static var element: any Any.Type { Element.self }
}

extension Set: ListValue {
    static var element: any Any.Type { Element.self }
}
