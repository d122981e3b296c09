public import OpenCombine

// What this folder is for: programs written after the README of the package that FMData succeeds compile with their
// import changed. It holds that package's spellings of calls that have other names here, and shorthands of its calls.
// Each is one line over the real call. Tests/AncestorProgram makes every call of that README.

extension DataAPI.Database {
    /// The earlier spelling of ``setGlobals(_:isolation:)``.
    ///
    /// - Note: One value. See <doc:Calls>.
    public func setGlobalFields(
        globalFields: [String: String],
        isolation: (any Actor)? = #isolation
    ) -> AnyPublisher<FMRest.EmptyResponse, FMRest.APIError> {
        setGlobals(globalFields, isolation: isolation)
    }
}
