public import FMSandbox

extension Sandbox.Configuration {
    /// A real server closes connections after 5 s without a request. A test that a busy machine delays for that long
    /// must not be affected.
    public static var patient: Sandbox.Configuration {
        var configuration = Sandbox.Configuration()
        configuration.keepAlive = .seconds(3600)
        return configuration
    }
}
