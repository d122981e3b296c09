import FMSandbox

extension Sandbox.Configuration {
    /// A busy machine may delay a test for longer than an idle connection is normally kept.
    static var patient: Sandbox.Configuration {
        var configuration = Sandbox.Configuration()
        configuration.keepAlive = .seconds(3600)
        return configuration
    }
}
