import Base
import FoundationEssentials
import Schemas
import Testing

/// The commands about messages, statuses and pictures, in the form in which services of other versions send them.
@Suite("Commands about messages, statuses and pictures")
struct MessagingCommandTests {
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"
    private static let device = #""device":"\#(id)""#
    private static let picture = #"{"bytes":9,"height":2,"type":"jpeg","width":3}"#
    private static let message =
        #"{"at":5,"from":"ann","id":"\#(id)","number":7,"picture":\#(picture),"removed":true,"text":"t","to":"bob"}"#
    private static let conversation =
        #"{"account":"bob","delivered":7,"expired":3,"last":9,"read":6,"removed":4,"seen":5,"unread":2}"#
    private static let own = #"{"at":5,"expires":9,"id":"\#(id)","picture":\#(picture),"seen":2,"text":"t"}"#
    private static let status =
        #"{"account":"bob","at":5,"expires":9,"id":"\#(id)","picture":\#(picture),"seen":true,"text":"t"}"#
    private static let report =
        #"{"account":"bob","at":5,"closed":9,"closed_by":"admin","id":"\#(id)","reporter":"ann","verdict":"genuine"}"#
    private static let uploaded = #"{"expires":9,"id":"\#(id)","picture":\#(picture)}"#

    @Test("Messages")
    func messages() throws {
        try checkWireForm(
            SendDirectMessage.self, "direct_message.send",
            #"{"classmate":true,"draft":{"text":"t","to":"bob"},"request_key":"k"}"#, reply: Self.message)
        try checkWireForm(
            SendDirectMessage.self, "direct_message.send",
            #"{"draft":{"picture":"\#(Self.id)","to":"bob"}}"#, reply: Self.message)
        try checkWireForm(
            ReadMessageNews.self, "direct_message.news", #"{"after":3,\#(Self.device),"limit":50,"prompt":"\#(Self.id)"}"#,
            reply: #"{"after":9,"conversations":[\#(Self.conversation)],"messages":[\#(Self.message)],"more":true,"now":8}"#)
        try checkWireForm(ConfirmMessages.self, "direct_message.received", #"{"after":9,\#(Self.device)}"#)
        try checkWireForm(MarkMessagesRead.self, "direct_message.read", #"{"message":"\#(Self.id)"}"#)
        try checkWireForm(
            ListConversation.self, "direct_message.list", #"{"account":"bob","before":9,"limit":50}"#,
            reply: #"{"conversation":\#(Self.conversation),"messages":[\#(Self.message)],"next":3,"now":8}"#)
    }

    @Test("Choices, counts, and how persons stand to each other")
    func service() throws {
        let rules =
            #"{"calls":5,"days":28,"digest_days":90,"per_minute":60,"pictures":1000,"poll":30,"published_days":365,"#
            + #""report_days":90}"#
        let choices = #"{"read_marks":false}"#
        try checkWireForm(ReadMessaging.self, "messaging.get", "{}", reply: #"{"choices":\#(choices),"rules":\#(rules)}"#)
        try checkWireForm(ChooseMessaging.self, "messaging.choose", #"{"choices":\#(choices)}"#, reply: choices)
        try checkWireForm(
            CountMessaging.self, "messaging.counts", "{}",
            reply: #"{"call_limit":9,"calls":{"getMessage":3},"due":1,"messages":2,"month":"2026-05","now":8,"#
                + #""picture_limit":7,"pictures":6,"reports":4}"#)
        let states = ["friends", "strangers", "blocked", "away"]
        let relations = states.map { #"{"account":"bob","state":"\#($0)"}"# }.joined(separator: ",")
        try checkWireForm(
            CheckFriends.self, "friend.check", #"{"accounts":["bob","cleo"]}"#,
            reply: #"{"relations":[\#(relations)]}"#)
    }

    @Test("Statuses")
    func statuses() throws {
        try checkWireForm(
            SetStatus.self, "status.set", #"{"draft":{"text":"t"},"request_key":"k"}"#, reply: Self.own)
        try checkWireForm(
            ListStatuses.self, "status.list", "{\(Self.device)}",
            reply: #"{"now":8,"own":\#(Self.own),"statuses":[\#(Self.status)]}"#)
        try checkWireForm(ReadOwnStatus.self, "status.own", "{}", reply: #"{"now":8,"status":\#(Self.own)}"#)
        try checkWireForm(RemoveStatus.self, "status.remove", "{}")
        try checkWireForm(MarkStatusesSeen.self, "status.seen", #"{"seen":{"statuses":["\#(Self.id)"]}}"#)
    }

    @Test("Pictures, whose bytes are a third frame, and reports")
    func picturesAndReports() throws {
        try checkWireForm(AddPicture.self, "picture.add", #"{"report":true}"#, reply: Self.uploaded)
        try checkWireForm(AddPicture.self, "picture.add", "{}", reply: Self.uploaded)
        try checkWireForm(PublishPicture.self, "picture.publish", "{}", reply: Self.uploaded)
        for holder in ["message", "status", "profile", "report", "published"] {
            try checkWireForm(ReadPicture.self, "picture.read", #"{"id":"x","of":"\#(holder)"}"#, reply: Self.picture)
        }
        try checkWireForm(SetProfilePicture.self, "picture.profile", #"{"picture":"\#(Self.id)"}"#)
        #expect(AddPicture.maxBytes == 1 << 20 && PublishPicture.maxBytes == 1 << 20)

        try checkWireForm(
            ReportMessage.self, "message_report.add",
            #"{"draft":{"account":"bob","message":"\#(Self.id)","reason":"r","text":"t"}}"#,
            reply: #"{"id":"\#(Self.id)","verdict":"forged"}"#)
        try checkWireForm(
            ListReports.self, "message_report.list", #"{"after":"a","limit":5,"open":true}"#,
            reply: #"{"next":"b","reports":[\#(Self.report)]}"#)
        try checkWireForm(
            ReadReport.self, "message_report.get", #"{"id":"\#(Self.id)"}"#,
            reply: #"{"message":"\#(Self.id)","picture":\#(Self.picture),"reason":"r","report":\#(Self.report),"sent":5,"#
                + #""text":"t"}"#)
        try checkWireForm(CloseReport.self, "message_report.close", #"{"id":"\#(Self.id)"}"#, reply: Self.report)
    }

    @Test("Commands that break a rule are refused, and the error names the field")
    func rules() {
        func wrong<C: Command>(_ type: C.Type, _ json: String) -> String? {
            violation { try C(payload: Data(json.utf8)) }?.field
        }
        func text(_ count: Int) -> String { String(repeating: "é", count: count) }
        func send(_ fields: String) -> String { #"{"draft":{"to":"bob"\#(fields)}}"# }
        #expect(wrong(SendDirectMessage.self, send(#","text":"\#(text(2_000))""#)) == nil)
        #expect(wrong(SendDirectMessage.self, send(#","text":"\#(text(2_001))""#)) == "draft.text")
        #expect(wrong(SendDirectMessage.self, send("")) == "draft.text")
        func news(_ limit: Int) -> String { #"{\#(Self.device),"after":0,"limit":\#(limit)}"# }
        #expect([1, 200].map { wrong(ReadMessageNews.self, news($0)) } == [nil, nil])
        #expect([0, 201].map { wrong(ReadMessageNews.self, news($0)) } == ["limit", "limit"])
        #expect(wrong(SetStatus.self, #"{"draft":{"text":"\#(text(500))"}}"#) == nil)
        #expect(wrong(SetStatus.self, #"{"draft":{"text":"\#(text(501))"}}"#) == "draft.text")
        func seen(_ count: Int) -> String {
            let ids = (0..<count).map { _ in "\"\(Self.id)\"" }.joined(separator: ",")
            return #"{"seen":{"statuses":[\#(ids)]}}"#
        }
        #expect([1, 200].map { wrong(MarkStatusesSeen.self, seen($0)) } == [nil, nil])
        #expect([0, 201].map { wrong(MarkStatusesSeen.self, seen($0)) } == ["seen.statuses", "seen.statuses"])
        func check(_ count: Int) -> String {
            let accounts = (0..<count).map { "\"s\($0)\"" }.joined(separator: ",")
            return #"{"accounts":[\#(accounts)]}"#
        }
        #expect([0, 200].map { wrong(CheckFriends.self, check($0)) } == [nil, nil])
        #expect(wrong(CheckFriends.self, check(201)) == "accounts")
        let report = #""message":"\#(Self.id)","account":"bob""#
        #expect(wrong(ReportMessage.self, #"{"draft":{\#(report),"text":"t"}}"#) == nil)
        #expect(wrong(ReportMessage.self, #"{"draft":{\#(report)}}"#) == "draft.text")
        #expect(
            wrong(ReportMessage.self, #"{"draft":{\#(report),"text":"t","reason":"\#(text(501))"}}"#) == "draft.reason")
    }

    @Test("A message waits half as long while nine tenths of the storage are used")
    func waiting() {
        let rules = MessagingRules(
            days: 28, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil, pictures: 1)
        #expect(rules.waitingTime(isNearlyFull: false) == .seconds(28 * 86_400))
        #expect(rules.waitingTime(isNearlyFull: true) == .seconds(14 * 86_400))
        let shortest = MessagingRules(
            days: 1, digestDays: 90, reportDays: 90, publishedDays: 365, poll: 30, perMinute: 60, calls: nil, pictures: 1)
        #expect(shortest.waitingTime(isNearlyFull: true) == .seconds(43_200))
    }
}
