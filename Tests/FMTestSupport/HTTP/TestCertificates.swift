public import NIOSSL

/// Certificates for tests, valid from 2020 to 2120, and TLS contexts of servers that use them. The keys protect
/// nothing.
public enum TestCertificates {
    /// The authority that signed all the others.
    public static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBdzCCAR6gAwIBAgIUdHnjxkaD/z1TI8dY6g1jerbcOtUwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwORk1EYXRhIFRlc3QgQ0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEy
        MDAxMDEwMDAwMDBaMBkxFzAVBgNVBAMMDkZNRGF0YSBUZXN0IENBMFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAEWrNXooj3Tf1ldi85+aY16Yph/SKVW8rwCvVUakOc
        8LzuMiuLTPSWiXypte/l99sYlU8AojhbpxRj0AV+nIkWeKNCMEAwDwYDVR0TAQH/
        BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFCiwczky0P3pt7VG/sJW
        qJ7VDUi9MAoGCCqGSM49BAMCA0cAMEQCIHIEgE7FaeWYsBVLlVrp+mRosb9itirG
        C69DhJ0HjUS4AiBP0pJCfiy+3cVuIiCkpryj9RrlOgtBfcj9pZ5sX/IWtg==
        -----END CERTIFICATE-----
        """

    /// For `localhost` and `127.0.0.1`.
    public static let server = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBsDCCAVWgAwIBAgIUAeRaAdcjfkuOw7/pv99n84Z09hMwCgYIKoZIzj0EAwIw
            GTEXMBUGA1UEAwwORk1EYXRhIFRlc3QgQ0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEy
            MDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEG
            CCqGSM49AwEHA0IABIyad9e9tbLjUWU/5HmrBcNNl90kJKub2sdp63JuRIz+0bOp
            oURjFlUdUrBZnL8FxKXK0aPngYPEJjNHYbm7eFujfjB8MBoGA1UdEQQTMBGCCWxv
            Y2FsaG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAJBgNVHRMEAjAAMB0G
            A1UdDgQWBBT9SQ7sErMWvaJrBSYOkbh4jPvqgTAfBgNVHSMEGDAWgBQosHM5MtD9
            6be1Rv7CVqie1Q1IvTAKBggqhkjOPQQDAgNJADBGAiEA89NkA6sWloMoHVXZTP7V
            4cF8IBqaMQ5i1bF+ro1/O9oCIQDVilSZmYZMC49j6h3s4yLqPZ/uAC+k1T16wbrB
            +flr4g==
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7KtobLMjyy4TXf5m
            49NX+/cGSXJvr4L7r3yvKJvSvOyhRANCAASMmnfXvbWy41FlP+R5qwXDTZfdJCSr
            m9rHaetybkSM/tGzqaFEYxZVHVKwWZy/BcSlytGj54GDxCYzR2G5u3hb
            -----END PRIVATE KEY-----
            """
    )

    /// SHA-256 of the key of `server`, in base64, as OpenSSL computes it.
    public static let serverKeyPin = "qOkfW/NREyuKnwgPhYFBTrQ7qDiA5q2yYh+q2iY1GFY="

    /// For `wrong.example`.
    public static let wrongName = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBsTCCAVegAwIBAgIUHV/eSzWJ2sfj6GBhtUX/miM9wSMwCgYIKoZIzj0EAwIw
            GTEXMBUGA1UEAwwORk1EYXRhIFRlc3QgQ0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEy
            MDAxMDEwMDAwMDBaMBgxFjAUBgNVBAMMDXdyb25nLmV4YW1wbGUwWTATBgcqhkjO
            PQIBBggqhkjOPQMBBwNCAATTb4gAyz0XakynqAyW2edzq8LtewBcoO3TdSPos3If
            P4URyKWUJEJdUKTNKFbtYc6ppvuNSOEXiCOfuJaHDbMIo3wwejAYBgNVHREEETAP
            gg13cm9uZy5leGFtcGxlMBMGA1UdJQQMMAoGCCsGAQUFBwMBMAkGA1UdEwQCMAAw
            HQYDVR0OBBYEFLqfGt2WyB13EtmJvyM6GgjasmBgMB8GA1UdIwQYMBaAFCiwczky
            0P3pt7VG/sJWqJ7VDUi9MAoGCCqGSM49BAMCA0gAMEUCIQD0YGx0R8uPke13HwKi
            fhIutaobycxPZhDpeZ5UJsS7QwIgZnlkrDAano4JY1piOXyO72Z31nN0m+giat9j
            PoCtPc4=
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQwtxe9tclfHXQ2Mq
            QQXb+XE74Z70qTQNxFlZ2Oss3mWhRANCAATTb4gAyz0XakynqAyW2edzq8LtewBc
            oO3TdSPos3IfP4URyKWUJEJdUKTNKFbtYc6ppvuNSOEXiCOfuJaHDbMI
            -----END PRIVATE KEY-----
            """
    )

    /// For `localhost`, valid until the second of January 2020.
    public static let expired = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBrTCCAVOgAwIBAgIUM2cOvqxdVksyo2mkc9/pkTpVs+owCgYIKoZIzj0EAwIw
            GTEXMBUGA1UEAwwORk1EYXRhIFRlc3QgQ0EwHhcNMjAwMTAxMDAwMDAwWhcNMjAw
            MTAyMDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggq
            hkjOPQMBBwNCAAR1hp1X6arIRMYt4NAm5ud/Lpp5el+JBzJjNKJzR7LnZfRu7pyA
            6n4GaTtiZxp7wZXU+11CVxPv54Ye2meDKzNpo34wfDAaBgNVHREEEzARgglsb2Nh
            bGhvc3SHBH8AAAEwEwYDVR0lBAwwCgYIKwYBBQUHAwEwCQYDVR0TBAIwADAdBgNV
            HQ4EFgQUUp6d8bT5mMTvqZf3o18q3hCiSs4wHwYDVR0jBBgwFoAUKLBzOTLQ/em3
            tUb+wlaontUNSL0wCgYIKoZIzj0EAwIDSAAwRQIgQf0ZzpUy9xp/EfX/AHv0rQr9
            3VQ0GNSr4J8SibjJ6noCIQDjENJRwCRb01woflHbJdEILzOQgxTnchh9r2xf8Jgt
            KQ==
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTNRSW1ljUyhN8YzP
            9v6+zypsOBWtxR3LPTQRbmpVjHqhRANCAAR1hp1X6arIRMYt4NAm5ud/Lpp5el+J
            BzJjNKJzR7LnZfRu7pyA6n4GaTtiZxp7wZXU+11CVxPv54Ye2meDKzNp
            -----END PRIVATE KEY-----
            """
    )

    /// For `localhost`, `127.0.0.1` and `::1`, signed by itself.
    public static let selfSigned = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBajCCAQ+gAwIBAgICEAIwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
            b3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIwEAYDVQQD
            DAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQrFq7HS1h9Xtib
            0o+KYmLqDdiY1KGKfd1MeK0xzLo4k3s8QY4zU8SpoafiW16bMsfAX3kdKK3I0Dca
            MsZiRv/3o08wTTAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAA
            AAAAAAAAAAEwHQYDVR0OBBYEFID5y9TOtpaitzSfSNzuTMqPDO96MAoGCCqGSM49
            BAMCA0kAMEYCIQDjmBwEaXPBg07hWAa2vNmdYMZ8stxjGrvmk9oXpCG5yQIhAIi9
            jDsaHPQpKnapEttTkqDQ9ru2kC/OX+KLDDlWHVoH
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaM0P5UWbXOifJbs5
            2sa/2/y81CLsZsG2RHYVvZomeROhRANCAAQrFq7HS1h9Xtib0o+KYmLqDdiY1KGK
            fd1MeK0xzLo4k3s8QY4zU8SpoafiW16bMsfAX3kdKK3I0DcaMsZiRv/3
            -----END PRIVATE KEY-----
            """
    )

    /// For `localhost`, `127.0.0.1` and `::1`, valid from the first of January 2100, signed by itself.
    public static let future = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBajCCARGgAwIBAgICEAEwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJbG9jYWxo
            b3N0MCIYDzIxMDAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNV
            BAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBaZjKuU+ZUK
            6QLDKJkHLqogmXOUhdpQGHKf6HkSTus/9DJv/f40xLtsIeEMP6/DqK1R8oUBbLWy
            M29qgnzb1EWjTzBNMCwGA1UdEQQlMCOCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAA
            AAAAAAAAAAAAATAdBgNVHQ4EFgQUrQWBOpqox9fKipC40UPkjTbzcZEwCgYIKoZI
            zj0EAwIDRwAwRAIgRFraswM7NmPXcsbzfPc3R/CjZlCSS0fpau7EVbpXmz8CID0z
            J9ZLXIDy2DMh7AOAeUtfxYL0NfGnbCWpT0NSIH0q
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgK0BorTHNMLJ8cLb6
            pe+nmtwNv113cB9UdTTMWwXXda6hRANCAAQWmYyrlPmVCukCwyiZBy6qIJlzlIXa
            UBhyn+h5Ek7rP/Qyb/3+NMS7bCHhDD+vw6itUfKFAWy1sjNvaoJ829RF
            -----END PRIVATE KEY-----
            """
    )

    /// A client certificate.
    public static let client = Pair(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBsTCCAVagAwIBAgIUSMvTVbThzeDGvRUdIzF5wOoCMiYwCgYIKoZIzj0EAwIw
            GTEXMBUGA1UEAwwORk1EYXRhIFRlc3QgQ0EwIBcNMjAwMTAxMDAwMDAwWhgPMjEy
            MDAxMDEwMDAwMDBaMBYxFDASBgNVBAMMC3Rlc3QgY2xpZW50MFkwEwYHKoZIzj0C
            AQYIKoZIzj0DAQcDQgAEJ5DRivupNkzspjho8pb8a1ggdjmy0m7U67EDRjOBp9rf
            SQshbRZMFQma3qP8wQHOtJVsdOMeqyd+Lj1rg+g6fqN9MHswGQYDVR0RBBIwEIIO
            Y2xpZW50LmV4YW1wbGUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwCQYDVR0TBAIwADAd
            BgNVHQ4EFgQUyBuwgzzwKOJyhPLM5S8IxpesYl4wHwYDVR0jBBgwFoAUKLBzOTLQ
            /em3tUb+wlaontUNSL0wCgYIKoZIzj0EAwIDSQAwRgIhAMnHF4GfjEpB8F2FgUzn
            Ka1x4YQN1Y6DOa31GhFPBowQAiEA0LhAx2na7pIQCMmaW/wV/NiFOOcNoy89vhWz
            HFiGNMw=
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgidnF0DHP9qsG381N
            ytYA7WzxLL7rYd/EVsnLN63tBsqhRANCAAQnkNGK+6k2TOymOGjylvxrWCB2ObLS
            btTrsQNGM4Gn2t9JCyFtFkwVCZreo/zBAc60lWx04x6rJ34uPWuD6Dp+
            -----END PRIVATE KEY-----
            """
    )

    /// The key of `client`, with the passphrase "harbor".
    public static let encryptedClientKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh836f/NMDSEAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKWNuyp4QvtbQXO5hGbjHUAEgZDq
        2dP0IpYsvVfgMBAXCL4JpnB7kuAPnWReqczpQuBTzNYQgg+4MnGxxgkRZ1IB/d/Y
        7A7ltO64WQXhaT6l9gVvc4fb4dKchVpd9FgORDedCTROOS4h5U/biOgq5znqt/wm
        l/JAB+J9A3xzEpRDYXZGw7O7Ty9WGM2zixWR3mq9n9aHFwq4WE2xpKKQdRFXD7E=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// A certificate and its private key.
    public struct Pair: Sendable {
        /// The certificate as PEM.
        public let certificate: String
        /// The private key as PEM.
        public let key: String
    }

    /// The TLS side of a server.
    ///
    /// - Parameters:
    ///   - maximumVersion: The highest version of the server.
    ///   - asksForClient: Whether clients must show a certificate of `authority`.
    public static func serverContext(
        _ pair: Pair = server,
        maximumVersion: TLSVersion? = nil,
        asksForClient: Bool = false
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(pair.certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(pair.key.utf8), format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv1
        configuration.maximumTLSVersion = maximumVersion
        if asksForClient {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
