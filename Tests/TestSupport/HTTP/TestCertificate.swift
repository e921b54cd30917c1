import Crypto
package import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// A self-signed certificate for the loopback address, made for one test. A client that trusts its PEM file trusts
/// the test's server.
package struct TestCertificate {
    package let pem: String
    private let key: String

    /// - Parameter lifetime: In seconds from now; negative for an expired one.
    package init(lifetime: TimeInterval = 86_400) throws {
        let privateKey = P256.Signing.PrivateKey()
        // A client that trusts two certificates tells them apart by their names.
        let name = try DistinguishedName { CommonName("test \(UInt64.random(in: 0...UInt64.max))") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(privateKey.publicKey),
            notValidBefore: .now - 7_200,
            notValidAfter: .now + lifetime,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            },
            issuerPrivateKey: .init(privateKey))
        pem = try certificate.serializeAsPEM().pemString
        key = privateKey.pemRepresentation
    }

    /// Writes the certificate and its key into files. Only their owner can read the key.
    package func write(certificateFile: String, keyFile: String) throws {
        try Data(pem.utf8).write(to: URL(filePath: certificateFile), options: .atomic)
        try Data(key.utf8).write(to: URL(filePath: keyFile), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
    }

    var serverConfiguration: TLSConfiguration {
        get throws {
            .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        }
    }
}
