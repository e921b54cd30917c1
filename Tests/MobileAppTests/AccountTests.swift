import FoundationEssentials
import Base
import MobileApp
import TestSupport
import Testing

/// The account of a native app, beyond what `Tests/AppCases/account.json` says of every app.
@Suite("The account", .timeLimit(.minutes(5)))
struct AccountTests {
    private let credential = Account.Credential.password(account: "ann", password: TestPersons.password)

    private func phone(_ kind: Platform.Kind = .android, path: String? = nil) throws -> TestPhone {
        let phone = try TestPhone(kind, path: path)
        phone.hub.persons { $0.add(["ann"]) }
        return phone
    }

    /// What the device has said of how it is reached.
    private func registration(of phone: TestPhone) -> JSONValue? { phone.hub.persons { $0.registrations.values.first } }

    @Test("FCM's token is told after a sign-in, and when FCM has replaced it")
    func registers() async throws {
        let phone = try phone()
        try await phone.running {
            try await phone.look()
            #expect(registration(of: phone) == nil)
            try await phone.app.account.signIn(credential)
            let first: JSONValue = ["fcm_token": "token 1", "language": "en", "name": "A test", "app_version": "1.1.0"]
            try await eventually("the first token is told") { registration(of: phone) == first }
            // Nothing new is told twice.
            try await phone.look()
            phone.push.replaceRegistration()
            try await phone.look()
            try await eventually("the second token is told") { registration(of: phone)?["fcm_token"] == "token 2" }
            #expect(phone.hub.requests.count { $0.method == .put && $0.path.hasPrefix("/user/devices/") } == 2)
        }
    }

    @Test("What the hub could not be told is told later")
    func registersLater() async throws {
        let phone = try phone()
        try await phone.app.account.signIn(credential)
        phone.hub.persons { $0.takesTokens = false }
        try await phone.running {
            try await eventually("a refused registration") {
                phone.hub.requests.contains { $0.path.hasPrefix("/user/devices/") }
            }
            phone.hub.persons { $0.takesTokens = true }
            try await eventually("the token is told", every: .milliseconds(20)) {
                phone.clock.advance(by: 1)
                return registration(of: phone) != nil
            }
        }
        #expect(try await phone.app.account.isSignedIn())
    }

    @Test("A push to the person is a pop-up that the app shows itself in the foreground, and an element for the screen")
    func pushes() async throws {
        let phone = try phone()
        let data = ["person_kind": "friend_request", "person_id": "6b01", "link": "#people/requests"]
        let notification = PushMessage.Notification(title: "You have a friend request", body: "", tag: "friend_request-6b01")
        var pushes = phone.app.personPushes().makeAsyncIterator()
        try await phone.running {
            phone.push.receive(PushMessage(notification: notification, data: data))
            let push = try #require(await pushes.next())
            #expect(push == PersonPush(data: data) && push.link == "#people/requests")
            #expect(phone.push.shown == [notification])
            // In the background the system has shown it.
            phone.push.setForeground(false)
            phone.push.receive(PushMessage(notification: notification, data: data))
            #expect(await pushes.next() == push)
            #expect(phone.push.shown == [notification])
        }
        #expect(try await phone.app.messages.all().isEmpty)
    }

    @Test("A phone whose key is gone, such as one that was restored from a backup, is signed out")
    func keyIsGone() async throws {
        let phone = try phone()
        try await phone.app.account.signIn(credential)
        try await phone.secrets.remove()
        phone.clock.advance(by: 3_600)
        await #expect(throws: Account.SignedOut.self) { _ = try await phone.app.account.token() }
        #expect(try await phone.app.account.wasSignedOut())
        #expect(try await phone.app.account.name() == nil)
    }

    @Test("While the platform refuses the key, the app works with the token that it has, and stays signed in")
    func keyIsLocked() async throws {
        let phone = try phone()
        try await phone.app.account.signIn(credential)
        phone.secrets.setLocked(true)
        #expect(try await phone.app.account.token() == "token-1")
        phone.clock.advance(by: 3_400)
        #expect(try await phone.app.account.token() == "token-1")
        await #expect(throws: TestSecretStore.Locked.self) { _ = try await phone.app.account.token(insteadOf: "token-1") }
        phone.secrets.setLocked(false)
        #expect(try await phone.app.account.token() == "token-2")
    }

    @Test("Many requests at once get one new token")
    func oneToken() async throws {
        let phone = try phone()
        let account = phone.app.account
        try await account.signIn(credential)
        phone.clock.advance(by: 3_600)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await account.request(HubRequest(.get, "/user")).status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(phone.hub.requests.count { $0.path == "/user/token" } == 1)
    }

    @Test("Signing out removes the key, and the next sign-in makes another one")
    func signOut() async throws {
        let phone = try phone()
        try await phone.app.account.signIn(credential)
        let first = try #require(phone.secrets.point)
        #expect(try await phone.app.account.signOut())
        #expect(phone.secrets.point == nil)
        try await phone.app.account.signIn(credential)
        #expect(phone.secrets.point.map { $0 != first } == true)
        phone.hub.setOnline(false)
        #expect(try await !phone.app.account.signOut())
        #expect(phone.secrets.point == nil)
    }

    @Test("The person stays signed in when the app and the phone start again")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let phone = try phone(path: folder + "/app.sqlite")
            try await phone.app.account.signIn(credential)
            let app = MobileApp(platform: phone.platform, database: try AppDatabase(path: folder + "/app.sqlite"))
            phone.clock.advance(by: 30 * 86_400)
            #expect(try await app.account.name() == "ann")
            #expect(try await app.account.request(HubRequest(.get, "/user")).status == 200)
        }
    }

    @Test("A refusal says what was refused")
    func refusals() async throws {
        let phone = try phone()
        let wrong = Account.Credential.password(account: "ann", password: "wrong")
        do {
            try await phone.app.account.signIn(wrong)
            Issue.record("signed in with a wrong password")
        } catch let refusal as Account.Refusal {
            #expect(refusal.status == 401 && refusal.field == "password" && refusal.detail == "no password")
        }
        await #expect(throws: Account.SignedOut.self) { _ = try await phone.app.account.request(HubRequest(.get, "/user")) }
        await #expect(throws: Account.SignedOut.self) { _ = try await phone.app.account.erase() }
    }

    @Test("An app without a place for a key signs nobody in")
    func withoutStore() async throws {
        let phone = try phone()
        let platform = Platform(
            kind: .ios, push: phone.push, notifications: phone.push, hub: phone.hub, clock: phone.clock)
        let app = MobileApp(platform: platform, database: try AppDatabase(path: nil))
        await #expect(throws: Account.NoSecretStore.self) { try await app.account.signIn(credential) }
    }
}
