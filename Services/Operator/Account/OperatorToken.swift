import Crypto
import Base
import FoundationEssentials
import Glibc
import Schemas

/// The file `token` in the state directory: the operator's bearer token, which has all rights. Only the file's owner may read it.
struct OperatorToken: Sendable {
    let path: String

    init(stateDirectory: String) {
        path = stateDirectory + "/token"
    }

    /// What is at the path.
    enum Content: Sendable {
        case missing
        /// There is no token in the file. The text says what is wrong with it, with the path.
        case malformed(String)
        case token(Secret)
    }

    /// - Throws: ``StartFailure`` if the file cannot be read.
    func content() throws(StartFailure) -> Content {
        guard let bytes = try? Data(contentsOf: URL(filePath: path)) else {
            let reason = access(path, R_OK) == 0 ? EISDIR : errno
            if reason == ENOENT { return .missing }
            throw StartFailure(description: "\(path) cannot be read: \(String(cString: strerror(reason)))")
        }
        guard let word = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first else {
            return .malformed("\(path) is empty")
        }
        guard word.wholeMatch(of: /msi_[A-Za-z0-9_-]{43}/) != nil else {
            return .malformed("\(path) holds no token: one is msi_ with 43 letters, digits, - or _, found something else")
        }
        return .token(Secret(String(word)))
    }

    /// - Returns: `nil` if there is no file.
    /// - Throws: ``StartFailure`` if the file cannot be read, or if there is no token in it.
    func read() throws(StartFailure) -> Secret? {
        switch try content() {
        case .missing: return nil
        case .malformed(let problem): throw StartFailure(description: problem)
        case .token(let token): return token
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
