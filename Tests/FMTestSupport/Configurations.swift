public import FMHTTP
public import FMSandbox

extension Sandbox.Configuration {
    /// Creates a configuration and changes some of its settings, as one expression.
    public init(_ change: (inout Self) -> Void) {
        self.init()
        change(&self)
    }
}

extension HTTPClientConfiguration {
    /// Creates a configuration and changes some of its settings, as one expression.
    public init(_ change: (inout Self) -> Void) {
        self.init()
        change(&self)
    }
}
