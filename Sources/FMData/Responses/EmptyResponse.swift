extension FMRest {
    /// The answer of a call that says nothing but that it worked.
    public struct EmptyResponse: Hashable, Sendable {
        /// The one value there is.
        public init() {}
    }
}

extension FMRest.EmptyResponse: Decodable {
    /// Servers put different things here, or nothing: none of it matters.
    public init(from decoder: any Decoder) throws {}
}
