import Schemas
import Store

/// The collections of the study service.
///
/// While only the reserve of the disk is left, sessions can still be joined, left, handed over and ended, and posts removed, but
/// no class, session or post can be added.
enum StudyStore {
    // Classes.

    static let classFoldedKey = Field("folded_key", \ClassDocument.foldedKey)
    static let classProfessor = Field("professor", \ClassDocument.professor)
    static let classRequest = Field("request", \ClassDocument.request)

    static let classes = Collection<ClassDocument>(
        "study_class", indexes: [.unique(classFoldedKey), .on(classProfessor), .unique(classRequest)], reserve: .changes,
        kind: "class")

    static let keyClass = Field("class", \ClassKeyDocument.classID)
    static let keyCode = Field("code", \ClassKeyDocument.code)
    static let keyRequest = Field("request", \ClassKeyDocument.request)
    static let keyEnd = Field("expires", \ClassKeyDocument.expires)

    static let keys = Collection<ClassKeyDocument>(
        "class_key", indexes: [.unique(keyCode), .on(keyClass), .unique(keyRequest), .expiring(keyEnd)], reserve: .changes,
        kind: "class key")

    static let memberClass = Field("class", \EnrolmentDocument.classID)
    static let memberAccount = Field("account", \EnrolmentDocument.account)
    static let memberAnnounces = Field("announces", \EnrolmentDocument.announces)

    static let members = Collection<EnrolmentDocument>(
        "class_member",
        indexes: [
            .unique(memberClass, memberAccount), .on(memberAccount), .on(memberClass), .on(memberClass, memberAnnounces),
        ], reserve: .changes, kind: "class member")

    static let persons = Collection<StudyPersonDocument>("study_person", reserve: .everything)

    static let erasedEnd = Field("expires", \ErasedPersonDocument.expires)

    static let erased = Collection<ErasedPersonDocument>(
        "study_erased", indexes: [.expiring(erasedEnd)], reserve: .everything)

    // Sessions.

    static let sessionClass = Field("class", \SessionDocument.classID)
    static let sessionOpen = Field("open", \SessionDocument.open)
    static let sessionEnded = Field("ended", \SessionDocument.ended)
    static let sessionDue = Field("due", \SessionDocument.due)
    static let sessionNamesUntil = Field("names_until", \SessionDocument.namesUntil)
    static let sessionHost = Field("host", \SessionDocument.host)
    static let sessionPlacedBy = Field("placed_by", \SessionDocument.placedBy)
    static let sessionRequest = Field("request", \SessionDocument.request)

    static let sessions = Collection<SessionDocument>(
        StudyHold.sessions,
        indexes: [
            .on(sessionClass, sessionOpen), .on(sessionClass, sessionEnded), .on(sessionEnded), .on(sessionDue),
            .on(sessionNamesUntil), .on(sessionHost), .on(sessionPlacedBy), .unique(sessionRequest),
        ], reserve: .changes, kind: "study session")

    static let attendanceSession = Field("session", \AttendanceDocument.session)
    static let attendanceAccount = Field("account", \AttendanceDocument.account)
    static let attendanceJoined = Field("joined", \AttendanceDocument.joined)

    static let attendances = Collection<AttendanceDocument>(
        "attendance",
        indexes: [
            .unique(attendanceSession, attendanceAccount), .on(attendanceSession, attendanceJoined),
            .on(attendanceAccount, attendanceJoined),
        ], reserve: .everything)

    static let inviteSession = Field("session", \InviteDocument.session)
    static let inviteTo = Field("to", \InviteDocument.to)
    static let inviteBy = Field("by", \InviteDocument.by)
    static let inviteEnd = Field("expires", \InviteDocument.expires)

    static let invites = Collection<InviteDocument>(
        "study_invite",
        indexes: [.unique(inviteSession, inviteTo), .on(inviteTo), .on(inviteBy), .expiring(inviteEnd)], kind: "invite")

    // Posts.

    static let postSession = Field("session", \PostDocument.session)
    static let postAt = Field("at", \PostDocument.at)
    static let postAuthor = Field("author", \PostDocument.author)
    static let postRemovedBy = Field("removed_by", \PostDocument.removedBy)
    static let postRequest = Field("request", \PostDocument.request)

    static let posts = Collection<PostDocument>(
        "study_post",
        indexes: [.on(postSession, postAt), .on(postAuthor), .on(postRemovedBy), .unique(postRequest)], reserve: .changes,
        kind: "post")

    static let declaration = StoreDeclaration(
        "study", classes, keys, members, persons, erased, sessions, attendances, invites, posts, queuedPushes, audited: true,
        erases: true)
}
