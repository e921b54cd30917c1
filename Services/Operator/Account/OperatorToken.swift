import Crypto
import DurableFiles
import FoundationEssentials
import Glibc
import Schemas

/// The file `token` in the state directory: the operator's bearer token, which has all rights. Only the file's owner may read it.
struct OperatorToken: Sendable {
    let path: String

    init(stateDirectory: String) {
        path = stateDirectory + "/token"
    }

    /// - Returns: `nil` if there is no file, or no token in it.
    /// - Throws: ``StartFailure`` if the file cannot be read.
    func read() throws(StartFailure) -> Secret? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let text = String(try String(contentsOfFile: path, encoding: .utf8).prefix { !$0.isWhitespace })
            return text.wholeMatch(of: /msi_[A-Za-z0-9_-]{43}/) == nil ? nil : Secret(text)
        } catch {
            throw StartFailure(description: "\(path) cannot be read: \(error)")
        }
    }

    /// Makes a new token, and replaces the file.
    ///
    /// - Parameter accept: Makes the token valid. If it fails, the file stays as it was.
    /// - Throws: ``StartFailure`` if the file cannot be written, or the error of `accept`.
    func replace(_ accept: (Secret) async throws -> Void = { _ in }) async throws {
        let new = Secret.newToken()
        let draft = path + ".new"
        do {
            // First, so that no failure of the disk loses a token that is valid already.
            try DurableFiles.replace(draft, new.text + "\n")
            try await accept(new)
            try DurableFiles.rename(draft, to: path)
        } catch let failure as DurableFileFailure {
            throw StartFailure(description: "\(failure)")
        } catch {
            unlink(draft)
            throw error
        }
    }
}

extension Secret {
    /// A new password that is easy to type: five groups of four letters and digits, none of which look alike. It has 99 random bits.
    static func newPassword() -> Secret {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        let groups = (0..<5).map { _ in String((0..<4).compactMap { _ in alphabet.randomElement(using: &generator) }) }
        return Secret(groups.joined(separator: "-"))
    }

    var hash: CredentialHash { CredentialHash(digest: SHA256.hash(data: Data(text.utf8))) }
}
