/// The names of the scripts that a request starts.
struct ScriptNames: Hashable, Sendable {
    var preRequest: String?
    var preSort: String?
    var afterRequest: String?
}
