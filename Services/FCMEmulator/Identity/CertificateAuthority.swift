import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// The emulator's own certificate authority. Clients that trust `ca.pem` trust the emulator.
///
/// Its key is stored, so that each start can issue a new server certificate under the same `ca.pem`.
struct CertificateAuthority {
    private static let certificateFile = "ca.pem"
    private static let keyFile = "ca-key.pem"
    /// Twenty years. The end stays before 2050, when X.509's date format changes.
    private static let lifetime: TimeInterval = 20 * 365 * 86_400

    let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    /// Reads the authority from its two files, or creates it on the first start.
    ///
    /// - Throws: ``StateFileError``.
    init(in folder: StateFolder, now: Date) throws {
        let keyPath = folder.path(of: Self.keyFile)
        let certificatePath = folder.path(of: Self.certificateFile)
        let storedCertificate = try folder.read(Self.certificateFile)
        if let stored = try folder.read(Self.keyFile) {
            do {
                key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: stored, as: UTF8.self))
            } catch {
                throw StateFileError.damaged(keyPath, "not a P-256 private key in PEM form")
            }
        } else if storedCertificate == nil {
            key = P256.Signing.PrivateKey()
            // The key comes first: after an interruption here the next start continues with it.
            try folder.write((key.pemRepresentation + "\n").utf8, to: Self.keyFile, mode: 0o600)
        } else {
            throw StateFileError.damaged(keyPath, "missing, but \(Self.certificateFile) exists")
        }

        guard let storedCertificate else {
            certificate = try Self.issue(to: key, now: now)
            try folder.write(
                (certificate.serializeAsPEM().pemString + "\n").utf8, to: Self.certificateFile, mode: 0o644)
            return
        }
        do {
            certificate = try Certificate(pemEncoded: String(decoding: storedCertificate, as: UTF8.self))
        } catch {
            throw StateFileError.damaged(certificatePath, "not a certificate in PEM form")
        }
        guard certificate.publicKey == Certificate.PublicKey(key.publicKey) else {
            throw StateFileError.damaged(certificatePath, "not the certificate of the key in \(Self.keyFile)")
        }
        guard certificate.notValidAfter > now else {
            throw StateFileError.damaged(certificatePath, "expired on \(certificate.notValidAfter)")
        }
    }

    /// A certificate for this machine's loopback names, signed by the authority, with its private key; both in PEM form.
    func issueServerCertificate(now: Date) throws -> (certificate: String, key: String) {
        let serverKey = P256.Signing.PrivateKey()
        let server = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(serverKey.publicKey),
            notValidBefore: max(now - 86_400, certificate.notValidBefore),
            // Apple's maximum.
            notValidAfter: min(now + 825 * 86_400, certificate.notValidAfter),
            issuer: certificate.subject,
            subject: try DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                // All emulators' authorities have the same name. A client that trusts two of them tells them apart by this.
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey)).keyIdentifier)
                SubjectAlternativeNames([
                    .dnsName("localhost"),
                    .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(ASN1OctetString(contentBytes: ArraySlice([UInt8](repeating: 0, count: 15) + [1]))),
                ])
            },
            issuerPrivateKey: .init(key))
        return (try server.serializeAsPEM().pemString, serverKey.pemRepresentation)
    }

    private static func issue(to key: P256.Signing.PrivateKey, now: Date) throws -> Certificate {
        let name = try DistinguishedName { CommonName("msi-fcm-emulator CA") }
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: .init(key.publicKey),
            notValidBefore: now - 86_400,
            notValidAfter: now + lifetime,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
    }
}
