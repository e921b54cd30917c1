import Bus
import Schemas
import TestSupport
import Testing
import Base

@testable import People

extension PeopleServiceTests {
    @Suite("Second factors over the bus")
    struct SecondFactorTests {
        /// A code of now, which stays valid for another half minute.
        private func code(_ secret: Secret, later steps: Int64 = 0) throws -> Secret {
            let totp = try #require(TOTP(secret: secret))
            return Secret(totp.code(step: TOTP.step(at: .now) + steps))
        }

        @Test("With a second factor, signing in needs a code, and each code works once", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let client = people.client
                let begun = try await client.request(BeginSecondFactor("admin"))
                #expect(begun.uri.text == "otpauth://totp/MSI:admin?secret=\(begun.secret.text)&issuer=MSI")
                // Not confirmed: no code is asked for.
                let earlier = try await people.signIn()
                #expect(earlier.credential.secondFactor == .none)
                let wrong = try #require(
                    await client.failure(of: ConfirmSecondFactor("admin", code: try code(begun.secret, later: 100))))
                #expect(wrong.status == .unauthenticated && wrong.field == "code")

                let used = try code(begun.secret)
                let recovery = try await client.request(ConfirmSecondFactor("admin", code: used)).recoveryCodes
                #expect(recovery.count == 10)
                #expect(try await people.credential(earlier.hash)?.secondFactor == .set)
                #expect(await client.failure(of: BeginSecondFactor("admin"))?.status == .conflict)
                #expect(await client.failure(of: ConfirmSecondFactor("admin", code: used))?.status == .conflict)

                let missing = try #require(await people.refusal())
                #expect(missing.status == .unauthenticated && missing.field == "code")
                #expect(await people.refusal(code: used)?.field == "code")
                // With a wrong password the answer does not say that there is a second factor.
                #expect(await people.refusal(password: "wrong", code: used)?.field == nil)

                // The next step's code is accepted early.
                let next = try code(begun.secret, later: 1)
                _ = try await people.signIn(code: next)
                #expect(await people.refusal(code: next)?.field == "code")

                _ = try await people.signIn(code: recovery[3])
                #expect(await people.refusal(code: recovery[3])?.field == "code")

                let confirm = ConfirmSignIn(hash: earlier.hash, password: RunningPeople.password, address: "192.0.2.9")
                #expect(await client.failure(of: confirm)?.field == "code")
                let confirmed = try await client.request(
                    ConfirmSignIn(
                        hash: earlier.hash, password: RunningPeople.password, code: recovery[4], address: "192.0.2.9"))
                #expect(confirmed.confirmedUntil != nil)

                let removed = try await client.request(RemoveSecondFactor("admin"))
                #expect(removed.secondFactor == .none)
                _ = try await people.signIn()
            }
        }

        @Test("Two sign-ins with one code at the same time: one is refused", arguments: StoreKind.allCases)
        func race(kind: StoreKind) async throws {
            try await RunningPeople.withAdmin(kind) { people in
                let begun = try await people.client.request(BeginSecondFactor("admin"))
                let recovery = try await people.client.request(
                    ConfirmSecondFactor("admin", code: try code(begun.secret))
                ).recoveryCodes
                async let first = people.refusal(code: recovery[0])
                async let second = people.refusal(code: recovery[0])
                let failures = await [first, second].compactMap { $0 }
                #expect(failures.map(\.field) == ["code"])
            }
        }

        @Test("If a second factor is required, a sign-in without one may only set it up, and tokens are suspended until then")
        func required() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                try await people.add("ann")
                let earlier = try await people.signIn("ann")
                let token = try await people.client.request(AddToken(name: "t", account: "ann", rights: [.read]))
                let before = try await people.changes(after: 0).sequence
                _ = try await people.client.request(UpdateAccount("ann", secondFactorRequired: true))
                // The gateways learn of it.
                #expect(try await people.changes(after: before).changes == [CredentialChange(of: "ann")])
                for hash in [earlier.hash, token.secret.credentialHash] {
                    #expect(try await people.credential(hash)?.secondFactor == .required)
                }
                #expect(try await people.signIn("ann").credential.secondFactor == .required)
                let begun = try await people.client.request(BeginSecondFactor("ann"))
                #expect(try await people.credential(earlier.hash)?.secondFactor == .required)
                let confirm = ConfirmSecondFactor("ann", code: try code(begun.secret))
                _ = try await people.client.request(confirm)
                #expect(try await people.credential(earlier.hash)?.secondFactor == .set)
            }
        }

        @Test("A missing code does not count as a wrong attempt, and wrong codes do")
        func limits() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let begun = try await people.client.request(BeginSecondFactor("admin"))
                _ = try await people.client.request(ConfirmSecondFactor("admin", code: try code(begun.secret)))
                for _ in 0..<8 { #expect(await people.refusal()?.field == "code") }
                for _ in 0..<4 { #expect(await people.refusal(code: Secret("000"))?.field == "code") }
                _ = try await people.tooManyAttempts { await people.refusal(code: Secret("000")) }
            }
        }
    }
}

extension RunningPeople {
    fileprivate func refusal(password: String, code: Secret?) async -> CommandFailure? {
        await refusal("admin", Secret(password), code: code)
    }
}
