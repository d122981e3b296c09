import FMHTTP

extension DataAPI {
    /// The headers of a request or of a response. Names are compared without regard to case; a name may occur several
    /// times.
    ///
    ///     var headers: DataAPI.Headers = ["X-Request-Id": "4711"]
    ///     headers["X-Request-Id"]                                  // "4711"
    ///
    /// Only the names are printed: a value may be a token, a key or a cookie.
    ///
    /// Source: RFC 9110, section 5.
    public struct Headers: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
        var fields: HTTPHeaders

        init(_ fields: HTTPHeaders) { self.fields = fields }

        /// Creates headers from names and values.
        public init(dictionaryLiteral elements: (String, String)...) { fields = HTTPHeaders(elements) }

        /// Creates headers from names and values, in their order.
        public init(_ headers: some Sequence<(name: String, value: String)>) {
            fields = HTTPHeaders(headers.map { ($0.name, $0.value) })
        }

        /// The first value of this name; `nil` if there is none. Setting it replaces all values of the name, or removes
        /// them.
        public subscript(name: String) -> String? {
            get { fields.first(name: name) }
            set {
                if let newValue { fields.replaceOrAdd(name: name, value: newValue) } else { fields.remove(name: name) }
            }
        }

        /// All values of this name, in their order.
        public func values(of name: String) -> [String] { fields[name] }

        /// Adds a value, beside those of the same name.
        public mutating func add(_ name: String, _ value: String) { fields.add(name: name, value: value) }

        /// Sets these headers in place of all of the same names.
        mutating func replace(by headers: Headers) {
            for header in headers.fields { fields.remove(name: header.name) }
            fields.add(contentsOf: headers.fields)
        }

        /// The names and values, in their order.
        public func makeIterator() -> AnyIterator<(name: String, value: String)> {
            var rest = fields.makeIterator()
            return AnyIterator { rest.next().map { (name: $0.name, value: $0.value) } }
        }

        /// Compares names and values in their order.
        public static func == (left: Headers, right: Headers) -> Bool { left.fields == right.fields }

        /// Hashes the names.
        public func hash(into hasher: inout Hasher) {
            for header in fields { hasher.combine(header.name.lowercased()) }
        }
    }
}

extension DataAPI.Headers: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names, in their order.
    public var description: String { "Headers(\(fields.map(\.name).joined(separator: ", ")))" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The names, without values.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields.map(\.name)) }
}
