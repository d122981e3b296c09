extension DataAPI.Server {
    /// Creates the server object that the variables of an environment describe. Nothing is sent.
    ///
    /// ```swift
    /// let variables = [
    ///     "FM_HOST": "fms.example.com", "FM_DATABASE": "World", "FM_USER": "admin", "FM_PASSWORD": secret,
    /// ]
    /// let world = try DataAPI.Server(environment: variables).addDatabase(environment: variables)
    /// print(world.name, world.credentials)        // World Credentials(user: "admin", password: ••••)
    /// ```
    ///
    /// A program passes `ProcessInfo.processInfo.environment`. The variables of the server, and those of
    /// ``addDatabase(environment:prefix:)``:
    ///
    /// | variable | what it is |
    /// |---|---|
    /// | `FM_HOST` | the host, as in `fms.example.com`; needed |
    /// | `FM_CA` | a file (PEM) with an authority that is trusted beside those of the system: ``DataAPI/TLS`` `roots` |
    /// | `FM_ROOT_PATH` | ``DataAPI/Config/rootPath``, as in `/otto/fmi/data` |
    /// | `FM_SESSIONS` | ``DataAPI/SessionConfiguration/maximumSessions`` |
    /// | `FM_TIMEOUT` | the seconds that a call may take altogether: ``DataAPI/Timeouts`` `total` |
    /// | `FM_DATABASE` | the name of the database; needed |
    /// | `FM_USER`, `FM_PASSWORD` | the account; needed without a key |
    /// | `FM_KEY` | a key instead of an account: ``DataAPI/Credentials/key(_:)`` |
    /// | `FM_PASSWORD_FILE`, `FM_KEY_FILE` | the file with the password or the key, as containers mount secrets |
    ///
    /// Whatever is not set stays as the configuration says. The proxy has variables of its own: ``DataAPI/Proxy``.
    ///
    /// - Parameters:
    ///   - environment: the variables and their values. Others are ignored.
    ///   - prefix: what the names begin with. A program with two servers gives each a prefix: `FM_NORTH_` reads
    ///     `FM_NORTH_HOST`.
    ///   - config: the configuration that the variables change.
    /// - Throws: all variables that are missing or cannot be used, by their names.
    public convenience init(
        environment: [String: String],
        prefix: String = "FM_",
        config: DataAPI.Config = DataAPI.Config()
    ) throws(DataAPI.EnvironmentError) {
        var reader = EnvironmentReader(environment, prefix: prefix)
        var config = config
        let host = reader.required("HOST")
        if let host, (try? HostAddress.origin(of: host, scheme: config.scheme)) == nil {
            reader.note("HOST", "must be a host alone, as in fms.example.com")
        }
        if let file = reader.text("CA") { config.tls.roots = .systemAnd(file: file) }
        if let path = reader.text("ROOT_PATH") {
            config.rootPath = path
            if !path.hasPrefix("/") || path.hasSuffix("/") {
                reader.note("ROOT_PATH", "must be a path, as in /otto/fmi/data")
            }
        }
        if let count = reader.number("SESSIONS", in: 1...1000) { config.sessions.maximumSessions = count }
        if let seconds = reader.number("TIMEOUT", in: 1...86_400) { config.timeouts.total = .seconds(seconds) }
        self.init(host: try reader.checked(host), config: config)
    }

    /// The database that the variables of an environment describe: `FM_DATABASE`, and `FM_USER` with `FM_PASSWORD` or
    /// `FM_KEY`; see ``init(environment:prefix:config:)``.
    ///
    /// Otherwise it does what ``addDatabase(_:credentials:dataSources:)`` does. Two databases of one server have
    /// prefixes of their own: `FM_STOCK_` reads `FM_STOCK_DATABASE`.
    ///
    /// - Parameters:
    ///   - environment: the variables and their values. Others are ignored.
    ///   - prefix: what the names begin with.
    /// - Throws: all variables that are missing or cannot be used, by their names.
    public func addDatabase(
        environment: [String: String],
        prefix: String = "FM_"
    ) throws(DataAPI.EnvironmentError) -> DataAPI.Database {
        var reader = EnvironmentReader(environment, prefix: prefix)
        let name = reader.required("DATABASE")
        let credentials = reader.credentials()
        let login = name.flatMap { name in credentials.map { (name, $0) } }
        let (database, account) = try reader.checked(login)
        return addDatabase(database, credentials: account)
    }
}

extension EnvironmentReader {
    /// A key, or an account with its password.
    fileprivate mutating func credentials() -> DataAPI.Credentials? {
        if hasSecret("KEY") {
            if text("USER") != nil { note("KEY", "excludes a user") }
            return secret("KEY").map(DataAPI.Credentials.key)
        }
        let user = required("USER")
        let password = secret("PASSWORD", mayBeEmpty: true)
        if password == nil, !hasSecret("PASSWORD") { note("PASSWORD", DataAPI.EnvironmentError.Problem.missing) }
        guard let user, let password else { return nil }
        return DataAPI.Credentials(user: user, password: password)
    }
}
