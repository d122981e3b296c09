import FMHTTP

extension DataAPI.Config {
    /// The configuration of the HTTP client that serves a server object.
    var httpConfiguration: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.maximumConnectionsPerOrigin = maximumConnections
        http.maximumBodyBytes = maximumResponseBytes
        http.tls = tls.httpOptions
        http.delivery =
            switch delivery {
            case .background: .background
            case .eventLoop: .eventLoop
            }
        http.allowsPlainHTTP =
            switch plainHTTP {
            case .loopbackOnly: .loopbackOnly
            case .anywhereUnencrypted: .anywhere
            }
        http.timeouts.connect = timeouts.connect
        http.timeouts.firstByte = timeouts.firstByte
        http.timeouts.idle = timeouts.idle
        http.timeouts.minimumRate = timeouts.minimumRate
        http.timeouts.total = timeouts.total
        return http
    }
}

extension DataAPI.TLS {
    fileprivate var httpOptions: TLSOptions {
        var options = TLSOptions()
        options.trust =
            switch roots {
            case .system: .system
            case .systemAnd(let file): .system(and: [.file(file)])
            case .only(let file): .only([.file(file)])
            }
        options.verification = dangerouslySkipsVerification ? .noneInsecureForDevelopmentOnly : .full
        options.identity = clientCertificate.map {
            TLSOptions.Identity(certificateChain: .file($0.chainFile), privateKey: .file($0.keyFile))
        }
        options.pinnedKeys = Set(pinnedPublicKeys)
        return options
    }
}
