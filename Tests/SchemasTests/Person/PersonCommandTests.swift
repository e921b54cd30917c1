import Base
import FoundationEssentials
import Schemas
import Testing

/// The commands about persons, in the form in which services of other versions send them.
@Suite("Commands about persons")
struct PersonCommandTests {
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"
    private static let credential = #"{"id_token":"eyJ","provider":"google"}"#
    private static let device = #"{"key":"BPk","platform":"web"}"#
    private static let linked = #"{"email":"ann@example.edu","linked":4,"provider":"google"}"#
    private static let person =
        #"{"account":"ann","created":3,"display_name":"Ann","identities":[\#(linked)],"professor":true,"role":"student"}"#
    private static let profile = #"{"bio":"Physics","born":"2004-02-29","visibility":{"bio":"friends"}}"#
    private static let proven = #""nonce":"n","proof":"p""#

    @Test("Sign-in, registration and tokens of devices")
    func signIn() throws {
        let offered = #"{"flow":"fragment","needs_code":false,"provider":"google","registers":true,"token":"id_token","url":"u"}"#
        try checkWireForm(ListProviders.self, "provider.list", "{}", reply: #"{"providers":[\#(offered)]}"#)
        try checkWireForm(ChallengeDevice.self, "device.challenge", "{}", reply: #"{"expires":5,"nonce":"n"}"#)
        try checkWireForm(
            BeginDevice.self, "device.begin",
            #"{"address":"192.0.2.1","credential":\#(Self.credential),"device":\#(Self.device),\#(Self.proven)}"#,
            reply: #"{"device":"\#(Self.id)","expires":5,"person":\#(Self.person),"token":"t"}"#)
        try checkWireForm(
            AddPerson.self, "person.add",
            #"{"access_code":"K7QF","account":"ann","address":"192.0.2.1","credential":\#(Self.credential),"#
                + #""device":\#(Self.device),"idempotency_key":"k",\#(Self.proven)}"#,
            reply: Self.person)
        try checkWireForm(
            ExchangeDeviceToken.self, "device.token", #"{"device":"\#(Self.id)",\#(Self.proven)}"#,
            reply: #"{"expires":5,"token":"t"}"#)
        let key = #"{"id":"k","key":"BPk"}"#
        let ended = #"{"at":7,"device":"\#(Self.id)","number":18}"#
        try checkWireForm(
            ReadDeviceChanges.self, "device.changes", #"{"after":17}"#,
            reply: #"{"after":17,"ended":[\#(ended)],"keys":[\#(key)],"more":true,"sequence":18}"#)
        try checkWireForm(RotateDeviceTokenKey.self, "device.rotate", #"{"forget":true}"#, reply: key)
    }

    @Test("The person's own account")
    func own() throws {
        try checkWireForm(GetPerson.self, "person.get", "{}", reply: Self.person)
        try checkWireForm(
            LinkIdentity.self, "person.link",
            #"{"address":"192.0.2.1","credential":\#(Self.credential),"device":"\#(Self.id)"}"#, reply: Self.person)
        try checkWireForm(UnlinkIdentity.self, "person.unlink", #"{"provider":"facebook"}"#, reply: Self.person)
        try checkWireForm(
            ChangePersonPassword.self, "person.password",
            #"{"address":"192.0.2.1","current":"old","device":"\#(Self.id)","password":"a longer one"}"#)
        try checkWireForm(GetProfile.self, "profile.get", "{}", reply: Self.profile)
        try checkWireForm(SetProfile.self, "profile.set", #"{"profile":\#(Self.profile)}"#, reply: Self.profile)
        let preferences = #"{"pushes":{"friend_request":false}}"#
        try checkWireForm(GetPushPreferences.self, "preference.get", "{}", reply: preferences)
        try checkWireForm(SetPushPreferences.self, "preference.set", #"{"preferences":\#(preferences)}"#, reply: preferences)
    }

    @Test("Other persons, and friends")
    func others() throws {
        let account = #"{"account":"bob"}"#
        try checkWireForm(
            ViewPerson.self, "person.view", account, reply: #"{"account":"bob","bio":"b","relation":"friends"}"#)
        try checkWireForm(SearchPersons.self, "person.search", #"{"text":"bob"}"#, reply: #"{"accounts":["bob"]}"#)
        try checkWireForm(ListFriends.self, "friend.list", "{}", reply: #"{"friends":["bob"]}"#)
        try checkWireForm(
            ListFriendRequests.self, "friend.requests", "{}", reply: #"{"asked":[],"received":[{"account":"bob","at":5}]}"#)
        try checkWireForm(
            AskFriend.self, "friend.ask", #"{"account":"bob","device":"\#(Self.id)"}"#,
            reply: #"{"account":"bob","state":"asked"}"#)
        try checkWireForm(AnswerFriend.self, "friend.answer", #"{"accept":true,"account":"bob"}"#)
        try checkWireForm(RemoveFriend.self, "friend.remove", account)
        try checkWireForm(BlockPerson.self, "friend.block", #"{"account":"bob","blocked":true}"#)
        try checkWireForm(ListBlocked.self, "friend.blocked", "{}", reply: #"{"blocked":["bob"]}"#)
    }

    @Test("Devices and how they are reached")
    func devices() throws {
        let device =
            #"{"app_version":"1.0","created":3,"id":"\#(Self.id)","language":"ar","name":"Phone","platform":"android","#
            + #""push":"fcm","push_ended":9,"seen":4}"#
        let one = #"{"account":"ann","device":"\#(Self.id)"}"#
        try checkWireForm(ListDevices.self, "device.list", #"{"account":"ann"}"#, reply: #"{"devices":[\#(device)]}"#)
        try checkWireForm(EndDevice.self, "device.end", one)
        try checkWireForm(EndDevice.self, "device.end", #"{"account":"ann"}"#)
        try checkWireForm(
            RegisterDevice.self, "device.register",
            #"{"account":"ann","device":"\#(Self.id)","registration":{"fcm_token":"t","language":"ar"}}"#, reply: device)
        let reached =
            #"{"account":"ann","address":"t","device":"\#(Self.id)","language":"ar","registered":5,"transport":"fcm"}"#
        try checkWireForm(
            ResolveDevices.self, "device.resolve",
            #"{"accounts":["ann"],"devices":["\#(Self.id)"],"except":"\#(Self.id)","kind":"friend_request"}"#,
            reply: #"{"devices":[\#(reached)]}"#)
        try checkWireForm(
            EndDevicePushes.self, "device.unreachable",
            #"{"devices":[{"device":"\#(Self.id)","registered":5}],"subscriptions":["\#(Self.id)"]}"#)
    }

    @Test("What super users ask for, and what all services with personal data answer")
    func administration() throws {
        let code =
            #"{"created":3,"expires":9,"grants":"professor","id":"\#(Self.id)","note":"Autumn","used":1,"uses":5}"#
        try checkWireForm(
            AddAccessCode.self, "access_code.add", #"{"expires":9,"grants":"professor","note":"Autumn","uses":5}"#,
            reply: #"{"access_code":\#(code),"code":"K7QF"}"#)
        try checkWireForm(ListAccessCodes.self, "access_code.list", "{}", reply: #"{"access_codes":[\#(code)]}"#)
        try checkWireForm(RemoveAccessCode.self, "access_code.remove", #"{"id":"\#(Self.id)"}"#)
        try checkWireForm(
            UseAccessCode.self, "access_code.use", #"{"address":"192.0.2.1","code":"K7QF"}"#, reply: Self.person)
        try checkWireForm(
            ImportAccounts.self, "account.import", #"{"dry_run":true,"rows":[{"account":"ann","oidc":"17","professor":true}]}"#,
            reply: #"{"outcomes":[{"account":"ann","outcome":"refused","reason":"r"}]}"#)
        let service = #"{"removed":[{"count":2,"what":"devices"}],"service":"people","stays":["s"]}"#
        try checkWireForm(
            BeginErasure.self, "erasure.begin", #"{"account":"ann","device":"\#(Self.id)",\#(Self.proven)}"#,
            reply: #"{"begun":3,"id":"\#(Self.id)","services":[\#(service)],"waiting":["message-log"]}"#)
        try checkWireForm(
            ErasePerson.self, "person.erase", #"{"account":"ann"}"#,
            reply: #"{"removed":[{"count":2,"what":"devices"}],"stays":["s"]}"#)
        try checkWireForm(
            ExportPerson.self, "person.export", #"{"account":"ann","after":"a"}"#,
            reply: #"{"files":{"friends.json":[{"account":"bob"}]},"next":"b"}"#)
    }

    @Test("The events of persons and devices")
    func events() throws {
        let json = #"{"account":"ann","epoch":"\#(Self.id)","id":"bob","kind":"friends","number":7}"#
        let event = try JSONCoder.decode(PersonChanged.self, from: Data(json.utf8))
        #expect(String(decoding: try JSONCoder.encode(event), as: UTF8.self) == json)
        #expect(PersonChanged.name == "person.changed" && DevicesChanged.name == "device.changed")
        let keys = [DeviceTokenKey(id: "k", key: "BPk")]
        #expect(DevicesChanged(after: 5, ended: [], keys: keys).sequence == 5)
        let end = EndedTokens(number: 9, at: 1_500, account: try #require(AccountName("ann")))
        let changed = DevicesChanged(after: 5, ended: [end], keys: keys)
        #expect(changed.sequence == 9 && changed.more == nil)
    }

    @Test("Commands that break a rule are refused, and the error names the field")
    func rules() {
        func wrong<C: Command>(_ type: C.Type, _ json: String) -> String? { violation { try C(payload: Data(json.utf8)) }?.field }
        #expect(wrong(SearchPersons.self, #"{"text":"an"}"#) == "text")
        #expect(wrong(SearchPersons.self, #"{"text":"\#(String(repeating: "a", count: 65))"}"#) == "text")
        #expect(wrong(SetPushPreferences.self, #"{"preferences":{"pushes":{"A b":true}}}"#) == "preferences.pushes")
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let many = letters.flatMap { first in "ab".map { "\"\(first)\($0)\":true" } }
        #expect(
            wrong(SetPushPreferences.self, #"{"preferences":{"pushes":{\#(many.joined(separator: ","))}}}"#)
                == "preferences.pushes")
        let registration = #"{"account":"ann","device":"\#(Self.id)","registration":"#
        #expect(
            wrong(RegisterDevice.self, registration + #"{"fcm_token":"t","subscription":"\#(Self.id)"}}"#)
                == "registration.subscription")
        #expect(wrong(RegisterDevice.self, registration + #"{"fcm_token":"a b"}}"#) == "registration.fcm_token")
        #expect(wrong(RegisterDevice.self, registration + #"{"fcm_token":"رمز"}}"#) == "registration.fcm_token")
        #expect(wrong(RegisterDevice.self, registration + #"{"language":"a b"}}"#) == "registration.language")
        #expect(wrong(BeginErasure.self, #"{"account":"ann","nonce":"n"}"#) == "device")
        #expect(wrong(BeginErasure.self, #"{"account":"ann","device":"\#(Self.id)"}"#) == "proof")
        #expect(wrong(ImportAccounts.self, #"{"dry_run":true,"rows":[]}"#) == "rows")
        for (name, field) in [
            ("an", "account"), ("ann@example.edu", "account"), (String(repeating: "a", count: 33), "account"),
            ("-ann", "account"), ("...", "account"),
        ] {
            let command =
                #"{"account":"\#(name)","address":"192.0.2.1","credential":\#(Self.credential),"device":\#(Self.device),"#
                + #"\#(Self.proven)}"#
            #expect(wrong(AddPerson.self, command) == field)
        }
        let weak =
            #"{"account":"ann","address":"a","credential":{"account":"ann","password":"short","provider":"password"},"#
            + #""device":\#(Self.device),\#(Self.proven)}"#
        #expect(wrong(AddPerson.self, weak) == "credential.password")
    }
}
