import Schemas
import Testing
import Base

@Suite("Credentials")
struct CredentialTests {
    private let now: UnixMilliseconds = 1_763_712_000_000

    private func signIn(
        expires: Milliseconds = .seconds(1), maxExpires: Milliseconds = .seconds(1), confirmedUntil: Milliseconds? = nil
    ) throws -> Credential {
        Credential(
            kind: .signIn, id: ObjectID(), account: try #require(AccountName("ann")), role: .communicator, rights: [.send],
            expires: now + expires, maxExpires: now + maxExpires, confirmedUntil: confirmedUntil.map { now + $0 }, sequence: 1)
    }

    @Test("A sign-in is valid until its end, unless it began while the clock was ahead")
    func validity() throws {
        for (seconds, isValid) in [(1, true), (12 * 3_600 + 60, true), (12 * 3_600 + 61, false), (86_400, false)] {
            let credential = try signIn(maxExpires: .seconds(Int64(seconds)))
            #expect(credential.isValid(at: now) == isValid, "\(seconds)")
        }
        #expect(try !signIn(expires: .seconds(0)).isValid(at: now))
        let operators = Credential(
            kind: .token, id: ObjectID(), account: try #require(AccountName("admin")), role: .superUser, rights: [.send],
            sequence: 1)
        #expect(operators.isValid(at: now))
    }

    @Test("A confirmation counts until its end, unless it was made while the clock was ahead")
    func confirmation() throws {
        for (seconds, isConfirmed) in [(0, false), (1, true), (5 * 60, true), (6 * 60, true), (6 * 60 + 1, false)] {
            let credential = try signIn(confirmedUntil: .seconds(Int64(seconds)))
            #expect(credential.isConfirmed(at: now) == isConfirmed, "\(seconds)")
        }
        #expect(try !signIn().isConfirmed(at: now))
    }
}
