import Crypto
import FoundationEssentials
import NIOSSL
import SwiftASN1
import X509

/// A self-signed certificate for the loopback address, made for one test. A client that trusts its PEM file trusts
/// the test's server.
package struct TestCertificate {
    let pem: String
    private let key: String

    package init() throws {
        let privateKey = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("test") }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(privateKey.publicKey),
            notValidBefore: .now - 3_600,
            notValidAfter: .now + 86_400,
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

    /// Writes the certificate and its key into a folder.
    package func write(certificateFile: String, keyFile: String) throws {
        try Data(pem.utf8).write(to: URL(filePath: certificateFile))
        try Data(key.utf8).write(to: URL(filePath: keyFile))
    }

    var serverConfiguration: TLSConfiguration {
        get throws {
            .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        }
    }
}
